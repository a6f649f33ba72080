import { useEffect, useState } from 'preact/hooks'
import type { Handoff } from '../../core/src/message/handoff/handoff.ts'
import type { ContextView, TranscriptEntry } from '../../server/src/runtime/runtime.ts'
import { hashOf } from '../data/address.ts'
import { call, errorText, sessionPath } from '../data/api.ts'
import { compareContexts } from '../data/compare.ts'
import { Report } from './compaction-report.tsx'
import { ContextBar, KIND_WORDS, KINDS, sumsOf } from './context-bar.tsx'
import { HandoffText } from './handoff-text.tsx'
import { count, tokens } from './words.ts'

/** The context before and after a compaction, and its handoff. */
interface Sides {
  readonly before: ContextView
  readonly after: ContextView
  readonly handoff: Handoff | null
}

export function BeforeAfter({ id, entry }: { readonly id: string; readonly entry: number }) {
  const [sides, setSides] = useState<Sides | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isReported, setReported] = useState(false)
  useEffect(() => {
    const read = async () => {
      try {
        const context = (at: number) => call<ContextView>(sessionPath(id, `/context?at=${at}`))
        const [before, after, { entries }] = await Promise.all([
          context(Math.max(1, entry - 1)),
          context(entry),
          call<{ entries: TranscriptEntry[] }>(
            sessionPath(id, `/transcript?from=${entry}&limit=1`),
          ),
        ])
        setSides({ before, after, handoff: entries[0]?.body as unknown as Handoff | null })
      } catch (error) {
        setProblem(errorText(error))
      }
    }
    void read()
  }, [id, entry])
  if (problem !== null) return <p class="problem">{problem}</p>
  if (sides === null) return <p class="dim">Reading…</p>
  const { before, after, handoff } = sides
  const { removed } = compareContexts(before, after)
  const gone = removed.filter(({ kind }) => kind === 'tail')
  const [first] = gone
  return (
    <>
      <div class="sides">
        <Side title="Before" view={before} other={after} />
        <Side title="After" view={after} other={before} />
      </div>
      {first !== undefined && (
        <p>
          <b>{count(gone.length)}</b> messages left the context; they{' '}
          <a href={hashOf(id, 'conversation', first.origin.from)}>stay in the conversation</a> and
          can be searched.
        </p>
      )}
      <details class="fates" onToggle={(event) => setReported(event.currentTarget.open)}>
        <summary>What became of each message</summary>
        {isReported && <Report id={id} entry={entry} />}
      </details>
      {first === undefined && (
        <p class="dim">No message left the context: this handoff rewrites an earlier one.</p>
      )}
      {handoff !== null && (
        <section class="handoff" aria-label="The handoff">
          <header>
            <b>What replaced them</b>
          </header>
          <HandoffText handoff={handoff} isOpen />
        </section>
      )}
    </>
  )
}

function Side(props: {
  readonly title: string
  readonly view: ContextView
  readonly other: ContextView
}) {
  const { title, view, other } = props
  const [sums, others] = [sumsOf(view.parts), sumsOf(other.parts)]
  return (
    <section aria-label={title}>
      <h3>
        {title}: {tokens(view.tokens)} tokens
      </h3>
      <ContextBar view={view} />
      <ul class="plain">
        {KINDS.filter((kind) => sums.has(kind) || others.has(kind)).map((kind) => (
          <li class={sums.has(kind) ? 'sum' : 'sum dim'}>
            <i class={`dot kind-${kind}`} />
            {KIND_WORDS[kind]}{' '}
            <b class="sum-tokens">{sums.has(kind) ? tokens(sums.get(kind) ?? 0) : '–'}</b>
          </li>
        ))}
      </ul>
    </section>
  )
}
