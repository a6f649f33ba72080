import { useMemo, useState } from 'preact/hooks'
import type { CompactionView, TranscriptEntry } from '../../server/src/runtime/runtime.ts'
import { hashOf } from '../data/address.ts'
import { call, sessionPath } from '../data/api.ts'
import type { Conversation } from '../data/conversation.ts'
import { useReading } from '../data/reading.ts'
import { COMPACTIONS_MAX, rewriteOf, toothOf } from '../data/tooth.ts'
import { BeforeAfter } from '../parts/before-after.tsx'
import { SawTooth } from '../parts/saw-tooth.tsx'
import {
  count,
  duration,
  exactly,
  moment,
  money,
  percent,
  RUNGS,
  TRIGGERS,
  tokens,
  WRITERS,
} from '../parts/words.ts'
import { PreviewPanel } from './preview-panel.tsx'

/** Every attempt at a compaction: why, by whom, what it made of the context; and the way back. */
export function Compactions(props: {
  readonly conversation: Conversation
  readonly at: number | null
}) {
  const { conversation, at } = props
  const { id } = conversation
  const version = conversation.compactions.value
  const summary = conversation.summary.value
  const tail = conversation.tail.value
  const { value, problem } = useReading(
    async (signal) => {
      const limit = `limit=${COMPACTIONS_MAX}`
      const [{ compactions }, { entries }] = await Promise.all([
        call<{ compactions: CompactionView[] }>(sessionPath(id, `/compactions?${limit}`), {
          signal,
        }),
        call<{ entries: TranscriptEntry[] }>(sessionPath(id, `/transcript?${limit}`), { signal }),
      ])
      return { compactions, entries }
    },
    [id, version, tail],
  )
  const rows = value?.compactions ?? null
  const { points, marks } = useMemo(
    () =>
      summary === null || value === null
        ? { points: [], marks: [] }
        : toothOf(summary, value.compactions, value.entries),
    [summary, value],
  )
  return (
    <div class="scroll">
      {problem !== null && <p class="problem">{problem}</p>}
      <h2>Tokens over time</h2>
      {summary !== null && <SawTooth {...{ points, marks }} windowTokens={summary.windowTokens} />}
      <details class="next">
        <summary>The next one, before it happens</summary>
        <PreviewPanel conversation={conversation} />
      </details>
      <h2>
        Compactions {rows !== null && rows.length > 0 && <span class="dim">{rows.length}</span>}
      </h2>
      {rows === null && problem === null && <p class="dim">Reading…</p>}
      {rows?.length === 0 && (
        <p class="dim">
          There was none yet; nothing is forgotten. The first is prepared by itself when the context
          reaches its soft limit.
        </p>
      )}
      {rows?.map((row) => (
        <Compaction
          key={row.operationId}
          row={row}
          rewrite={rewriteOf(row, rows)}
          rewritten={rows.find((other) => rewriteOf(other, rows) === row)}
          conversation={conversation}
          isMeant={row.entry !== null && row.entry === at}
        />
      ))}
    </div>
  )
}

function Compaction(props: {
  readonly row: CompactionView
  /** What a model made of it later, where it was a digest; and the other way round. */
  readonly rewrite: CompactionView | undefined
  readonly rewritten: CompactionView | undefined
  readonly conversation: Conversation
  readonly isMeant: boolean
}) {
  const { row, rewrite, rewritten, conversation, isMeant } = props
  const { state, by, trigger, startedAt, tokensBefore, tokensAfter, entry } = row
  const [isOpen, setOpen] = useState(isMeant)
  const isDegraded = by === 'digest' && state === 'committed'
  const link = (other: CompactionView, words: string) => (
    <a href={hashOf(conversation.id, 'compactions', other.entry ?? undefined)}>{words}</a>
  )
  return (
    <div class={`compaction ${state}${isDegraded ? ' degraded' : ''}`}>
      {row.isInEffect && entry !== null && (
        <button type="button" onClick={() => void conversation.revert(entry)}>
          Undo
        </button>
      )}
      <details open={isMeant} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <time dateTime={new Date(startedAt).toISOString()} title={exactly(startedAt)}>
            {moment(startedAt)}
          </time>
          <span class={`chip ${state}`}>{row.isInEffect ? 'in effect' : state}</span>
          {isDegraded && <span class="chip degraded">degraded</span>}
          <b>{TRIGGERS[trigger] ?? trigger}</b>
          {tokensBefore !== null && tokensAfter !== null && (
            <span class="sizes">
              {tokens(tokensBefore)} → {tokens(tokensAfter)}
              <span class="dim"> {changeOf(tokensBefore, tokensAfter)}</span>
            </span>
          )}
          <span class="dim facts">{factsOf(row)}</span>
        </summary>
        <dl class="facts-list">
          <Fact name="Why">{row.reason}</Fact>
          {row.failure !== null && <Fact name="Came to nothing">{row.failure}</Fact>}
          {row.warning !== null && <Fact name="Warning">{row.warning}</Fact>}
          <Fact name="Covers">entries 1 to {row.covers}</Fact>
          <Fact name="Written by">
            {WRITERS[by] ?? by}
            {row.modelRoute !== null && ` through ${row.modelRoute}`}
          </Fact>
          {row.rung !== null && <Fact name="Rung">{RUNGS[row.rung] ?? row.rung}</Fact>}
          <Fact name="Waited for">
            {row.waitMs === 0 ? 'by nobody' : `by a turn, ${duration(row.waitMs)}`}
          </Fact>
          <Fact name="Cost">{costWords(row)}</Fact>
          {rewrite !== undefined && (
            <Fact name="Later">
              {link(rewrite, `rewritten by a model, ${moment(rewrite.startedAt)}`)}
            </Fact>
          )}
          {isDegraded && rewrite === undefined && row.isInEffect && (
            <Fact name="Later">a model will rewrite it, in the background</Fact>
          )}
          {rewritten !== undefined && (
            <Fact name="In place of">
              {link(rewritten, `the digest of ${moment(rewritten.startedAt)}`)}
            </Fact>
          )}
        </dl>
        {isOpen && entry !== null && <BeforeAfter id={conversation.id} entry={entry} />}
      </details>
    </div>
  )
}

function Fact(props: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  )
}

function changeOf(before: number, after: number): string {
  const share = percent(Math.abs(before - after), before)
  return after > before ? `(+${share}%)` : `(−${share}%)`
}

/** The line that is read without opening: who, how long, whether anybody waited, what it cost. */
function factsOf({ by, startedAt, endedAt, waitMs, spend }: CompactionView): string {
  return [
    WRITERS[by] ?? by,
    endedAt === null ? 'under way' : `took ${duration(endedAt - startedAt)}`,
    waitMs === 0 ? '' : `a turn waited ${duration(waitMs)}`,
    spend?.cost == null || spend.cost === 0 ? '' : money(spend.cost),
  ]
    .filter((words) => words !== '')
    .join(' · ')
}

function costWords({ spend }: CompactionView): string {
  if (spend === null) return 'not in the record any more'
  if (spend.calls === 0) return 'no model was asked'
  const { calls, inputTokens, outputTokens, cost } = spend
  const asked = `${count(calls)} ${calls === 1 ? 'call' : 'calls'}, ${tokens(inputTokens)} tokens in, ${tokens(outputTokens)} out`
  return cost === null ? `${asked}; no price is configured` : `${asked}; ${money(cost)}`
}
