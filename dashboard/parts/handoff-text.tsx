import type { Handoff } from '../../src/message/handoff.ts'
import type { Part } from '../../src/message/message.ts'
import { Said, Verbatim } from './markdown.tsx'

/** A handoff's sections, the summary open and the rest folded. */
export function HandoffText({ handoff }: { readonly handoff: Handoff }) {
  const { summary, preserved, tasks, files, ledger } = handoff
  const said = preserved.map(
    ({ message, number, state }) => `#${number} (${state}) ${textOf(message.parts)}`,
  )
  return (
    <div class="sections">
      {summary === '' ? <p class="dim">It has no summary.</p> : <Said text={summary} />}
      <Section label="Kept word for word" items={said} />
      <Section label="Tasks" items={tasks.map(({ status, text }) => `${status}: ${text}`)} />
      <Section label="Files" items={files.map(({ access, path }) => `${access} ${path}`)} />
      <Section label="Ledger" items={ledger.map(({ kind, text }) => `${kind}: ${text}`)} />
    </div>
  )
}

function Section({ label, items }: { readonly label: string; readonly items: readonly string[] }) {
  if (items.length === 0) return null
  return (
    <details>
      <summary>
        {label} <span class="dim">({items.length})</span>
      </summary>
      <Verbatim text={items.join('\n')} />
    </details>
  )
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
