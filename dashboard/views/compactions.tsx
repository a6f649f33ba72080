import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Handoff } from '../../src/message/handoff.ts'
import type { CompactionView, ContextView, TranscriptEntry } from '../../src/runtime/runtime.ts'
import { call, sessionPath, wordsOf } from '../data/api.ts'
import type { Conversation } from '../data/conversation.ts'
import { COMPACTIONS_MAX, toothOf } from '../data/tooth.ts'
import { ContextBar, KIND_WORDS, KINDS, sumsOf } from '../parts/context-bar.tsx'
import { WRITERS } from '../parts/entry.tsx'
import { HandoffText } from '../parts/handoff-text.tsx'
import { SawTooth } from '../parts/saw-tooth.tsx'
import { duration, exactly, moment, tokens } from '../parts/words.ts'
import { PreviewPanel } from './preview-panel.tsx'

/** Every attempt at a compaction: why, by whom, what it made of the context; and the way back. */
export function Compactions(props: {
  readonly conversation: Conversation
  readonly at: number | null
}) {
  const { conversation, at } = props
  const { id } = conversation
  const [rows, setRows] = useState<readonly CompactionView[] | null>(null)
  const [recent, setRecent] = useState<readonly TranscriptEntry[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const version = conversation.compactions.value
  const summary = conversation.summary.value
  const tail = conversation.tail.value
  useEffect(() => {
    const read = async () => {
      try {
        const path = sessionPath(id, `/compactions?limit=${COMPACTIONS_MAX}`)
        const [{ compactions }, { entries }] = await Promise.all([
          call<{ compactions: CompactionView[] }>(path),
          call<{ entries: TranscriptEntry[] }>(
            sessionPath(id, `/transcript?limit=${COMPACTIONS_MAX}`),
          ),
        ])
        setRows(compactions)
        setRecent(entries)
        setProblem(null)
      } catch (error) {
        setProblem(wordsOf(error))
      }
    }
    void read()
  }, [id, version, tail])
  const points = useMemo(
    () => (summary === null || rows === null ? [] : toothOf(summary, rows, recent)),
    [summary, rows, recent],
  )
  return (
    <div class="scroll">
      {problem !== null && <p class="problem">{problem}</p>}
      <h2>Tokens over time</h2>
      {summary !== null && <SawTooth points={points} windowTokens={summary.windowTokens} />}
      <details class="next">
        <summary>The next one, before it happens</summary>
        <PreviewPanel conversation={conversation} />
      </details>
      <h2>Compactions</h2>
      {rows?.length === 0 && <p class="dim">There was none yet; nothing is forgotten.</p>}
      {rows?.map((row) => (
        <Compaction
          key={row.operationId}
          row={row}
          conversation={conversation}
          isMeant={row.entry !== null && row.entry === at}
        />
      ))}
    </div>
  )
}

function Compaction(props: {
  readonly row: CompactionView
  readonly conversation: Conversation
  readonly isMeant: boolean
}) {
  const { row, conversation, isMeant } = props
  const { state, by, trigger, startedAt, endedAt, tokensBefore, tokensAfter, entry } = row
  const [isOpen, setOpen] = useState(isMeant)
  const took = endedAt === null ? 'under way' : `took ${duration(endedAt - startedAt)}`
  return (
    <div class={`compaction ${state}`}>
      {row.isInEffect && entry !== null && (
        <button
          type="button"
          onClick={() => void conversation.act(`/compactions/${entry}/revert`, { method: 'POST' })}
        >
          Undo
        </button>
      )}
      <details open={isMeant} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <time dateTime={new Date(startedAt).toISOString()} title={exactly(startedAt)}>
            {moment(startedAt)}
          </time>
          <span class={`chip ${state}`}>{row.isInEffect ? 'in effect' : state}</span>
          <b>{trigger}</b>
          <span>{WRITERS[by] ?? by}</span>
          {tokensBefore !== null && tokensAfter !== null && (
            <span>
              {tokens(tokensBefore)} → {tokens(tokensAfter)}
            </span>
          )}
          <span class="dim">{took}</span>
        </summary>
        <p class="dim">
          {row.reason}. Covers entries 1 to {row.covers}
          {row.modelRoute === null ? '' : `; written through ${row.modelRoute}`}.
        </p>
        {isOpen && entry !== null && <BeforeAfter id={conversation.id} entry={entry} />}
      </details>
    </div>
  )
}

interface Sides {
  readonly before: ContextView
  readonly after: ContextView
  readonly handoff: Handoff | null
}

function BeforeAfter({ id, entry }: { readonly id: string; readonly entry: number }) {
  const [sides, setSides] = useState<Sides | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
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
        setProblem(wordsOf(error))
      }
    }
    void read()
  }, [id, entry])
  if (problem !== null) return <p class="problem">{problem}</p>
  if (sides === null) return <p class="dim">Reading…</p>
  return (
    <>
      <div class="sides">
        <Side title="Before" view={sides.before} />
        <Side title="After" view={sides.after} />
      </div>
      {sides.handoff !== null && (
        <section class="handoff" aria-label="What it wrote">
          <HandoffText handoff={sides.handoff} />
        </section>
      )}
    </>
  )
}

function Side({ title, view }: { readonly title: string; readonly view: ContextView }) {
  const sums = sumsOf(view.parts)
  return (
    <section aria-label={title}>
      <h3>
        {title}: {tokens(view.tokens)} tokens
      </h3>
      <ContextBar view={view} />
      <ul class="plain">
        {KINDS.filter((kind) => sums.has(kind)).map((kind) => (
          <li>
            <i class={`dot kind-${kind}`} />
            {KIND_WORDS[kind]} {tokens(sums.get(kind) ?? 0)}
          </li>
        ))}
      </ul>
    </section>
  )
}
