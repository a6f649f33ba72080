import type { Handoff, LedgerEntry } from '../../core/src/message/handoff/handoff.ts'
import type { Part } from '../../core/src/message/message.ts'
import { Prose, Verbatim } from './markdown.tsx'
import { TaskItems } from './task-items.tsx'
import { count } from './words.ts'

/** The sections of a handoff; `isOpen` unfolds the most important ones. */
export function HandoffText(props: { readonly handoff: Handoff; readonly isOpen?: boolean }) {
  const { summary, preserved, tasks, files, ledger } = props.handoff
  const { isOpen = false } = props
  return (
    <div class="sections">
      <Section label="Summary" size={`${count(summary.length)} characters`} isOpen={isOpen}>
        {summary === '' ? (
          <p class="dim">This handoff has no summary.</p>
        ) : (
          <Prose text={summary} />
        )}
      </Section>
      <Section label="Kept word for word" size={amount(preserved.length)} isOpen={isOpen}>
        {preserved.map(({ message, number, state, truncated }) => (
          <blockquote>
            <span class="dim">
              message {number}, {state === 'open' ? 'still open' : 'answered'}
              {truncated && ', shortened in the middle'}
            </span>
            <Verbatim text={textOf(message.parts)} />
          </blockquote>
        ))}
      </Section>
      <Section label="Tasks" size={amount(tasks.length)} isOpen={isOpen}>
        <TaskItems tasks={tasks} />
      </Section>
      <Section label="Files" size={amount(files.length)}>
        <ul class="plain">
          {files.map(({ access, path }) => (
            <li>
              <code>{path}</code> <span class="dim">{access}</span>
            </li>
          ))}
        </ul>
      </Section>
      <Section label="Exact facts" size={amount(ledger.length)} isOpen={isOpen}>
        <Ledger ledger={ledger} />
      </Section>
    </div>
  )
}

const amount = (items: number) => (items === 0 ? '' : count(items))

function Ledger({ ledger }: { readonly ledger: readonly LedgerEntry[] }) {
  const kinds = Map.groupBy(ledger, ({ kind }) => kind)
  return (
    <dl class="ledger">
      {[...kinds].map(([kind, entries]) => (
        <>
          <dt>{kind}</dt>
          <dd>
            {entries.map(({ text }) => (
              <code class="name">{text}</code>
            ))}
          </dd>
        </>
      ))}
    </dl>
  )
}

function Section(props: {
  readonly label: string
  /** Empty: the section is left out. */
  readonly size: string
  readonly isOpen?: boolean
  readonly children: preact.ComponentChildren
}) {
  const { label, size, isOpen = false, children } = props
  if (size === '') return null
  return (
    <details open={isOpen}>
      <summary>
        {label} <span class="dim">{size}</span>
      </summary>
      {children}
    </details>
  )
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
