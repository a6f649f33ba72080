import { useMemo, useState } from 'preact/hooks'
import type { CompactionView, TranscriptEntry } from '../../server/src/runtime/runtime.ts'
import { mayWrite } from '../data/access.ts'
import { hashOf } from '../data/address.ts'
import { call, sessionPath } from '../data/api.ts'
import type { Conversation } from '../data/conversation.ts'
import { useServerData } from '../data/reading.ts'
import { COMPACTIONS_MAX, rewriteOf, sawToothOf } from '../data/tooth.ts'
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

/** Every attempt at a compaction: its reason, writer, cost and effect, with *Undo*. */
export function Compactions(props: {
  readonly conversation: Conversation
  readonly at: number | null
}) {
  const { conversation, at } = props
  const { id } = conversation
  const version = conversation.compactions.value
  const summary = conversation.summary.value
  const tail = conversation.tail.value
  const { value, problem } = useServerData(
    async (signal) => {
      const limit = `limit=${COMPACTIONS_MAX}`
      const [{ compactions }, { entries }] = await Promise.all([
        call<{ compactions: CompactionView[] }>(sessionPath(id, `/compactions?${limit}`), {
          signal,
        }),
        call<{ entries: TranscriptEntry[] }>(sessionPath(id, `/transcript?${limit}`), { signal }),
      ])
      return { compactions: compactions.filter((row) => !wasTooSmall(row)), entries }
    },
    [id, version, tail],
  )
  const rows = value?.compactions ?? null
  const { points, marks } = useMemo(
    () =>
      summary === null || value === null
        ? { points: [], marks: [] }
        : sawToothOf(summary, value.compactions, value.entries),
    [summary, value],
  )
  return (
    <div class="scroll">
      {problem !== null && <p class="problem">{problem}</p>}
      <h2>Tokens over time</h2>
      {summary !== null && <SawTooth {...{ points, marks }} windowTokens={summary.windowTokens} />}
      {mayWrite() && !conversation.isOfClient.value && (
        <details class="next">
          <summary>Preview the next compaction</summary>
          <PreviewPanel conversation={conversation} />
        </details>
      )}
      <h2>
        Compactions {rows !== null && rows.length > 0 && <span class="dim">{rows.length}</span>}
      </h2>
      {rows === null && problem === null && <p class="dim">Reading…</p>}
      {rows?.length === 0 && (
        <p class="dim">
          No compaction yet: the model sees the whole conversation. The first one starts
          automatically when the context reaches its soft limit.
        </p>
      )}
      {rows?.map((row) => (
        <Compaction
          key={row.operationId}
          row={row}
          rewrite={rewriteOf(row, rows)}
          rewritten={rows.find((other) => rewriteOf(other, rows) === row)}
          conversation={conversation}
          isSelected={row.entry !== null && row.entry === at}
        />
      ))}
    </div>
  )
}

function Compaction(props: {
  readonly row: CompactionView
  /** The model's later rewrite of a digest, and the digest that this one rewrites. */
  readonly rewrite: CompactionView | undefined
  readonly rewritten: CompactionView | undefined
  readonly conversation: Conversation
  readonly isSelected: boolean
}) {
  const { row, rewrite, rewritten, conversation, isSelected } = props
  const { state, by, trigger, startedAt, tokensBefore, tokensAfter, entry } = row
  const [isOpen, setOpen] = useState(isSelected)
  // The proxy asks no model for a summary.
  const isDegraded = by === 'digest' && state === 'committed' && !row.isAdopted
  const link = (other: CompactionView, words: string) => (
    <a href={hashOf(conversation.id, 'compactions', other.entry ?? undefined)}>{words}</a>
  )
  return (
    <div class={`compaction ${state}${isDegraded ? ' degraded' : ''}`}>
      {row.isInEffect && entry !== null && mayWrite() && (
        <button type="button" onClick={() => void conversation.revert(entry)}>
          Undo
        </button>
      )}
      <details open={isSelected} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <time dateTime={new Date(startedAt).toISOString()} title={exactly(startedAt)}>
            {moment(startedAt)}
          </time>
          <span class={`chip ${state}`}>{stateWords(row)}</span>
          {isDegraded && (
            <span class="chip degraded" title="No model could write this summary">
              degraded
            </span>
          )}
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
          <Fact name="Reason">{row.reason}</Fact>
          {row.failure !== null && <Fact name="Failed">{row.failure}</Fact>}
          {row.warning !== null && <Fact name="Warning">{row.warning}</Fact>}
          {by !== 'clearing' && <Fact name="Replaces">messages up to #{row.covers}</Fact>}
          <Fact name="Written by">
            {WRITERS[by] ?? by}
            {row.modelRoute !== null && ` through ${row.modelRoute}`}
          </Fact>
          {row.rung !== null && <Fact name="Route">{RUNGS[row.rung] ?? row.rung}</Fact>}
          <Fact name="Wait">
            {row.waitMs === 0 ? 'none' : `a turn waited ${duration(row.waitMs)}`}
          </Fact>
          <Fact name="Cost">{costWords(row)}</Fact>
          {rewrite !== undefined && (
            <Fact name="Later">
              {link(rewrite, `rewritten by a model, ${moment(rewrite.startedAt)}`)}
            </Fact>
          )}
          {isDegraded && rewrite === undefined && row.isInEffect && (
            <Fact name="Later">a model will rewrite it in the background</Fact>
          )}
          {rewritten !== undefined && (
            <Fact name="Replaces digest">
              {link(rewritten, `of ${moment(rewritten.startedAt)}`)}
            </Fact>
          )}
        </dl>
        {isOpen && entry !== null && <BeforeAfter id={conversation.id} entry={entry} />}
      </details>
    </div>
  )
}

/** The page has said beside the button that it was too early; nothing failed. */
function wasTooSmall({ state, trigger, failure }: CompactionView): boolean {
  return state === 'failed' && trigger === 'manual' && failure === 'not-smaller'
}

function stateWords({ state, isInEffect, isUndone }: CompactionView): string {
  if (state !== 'committed') return state
  return isInEffect ? 'in effect' : isUndone ? 'undone' : 'replaced'
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

/** The line of a folded row: writer, duration, wait and cost. */
function factsOf({ by, reason, startedAt, endedAt, waitMs, spend }: CompactionView): string {
  // The model wrote it before: installing it says nothing about how long that took.
  const isPreview = reason.startsWith('preview installed')
  const ended = endedAt === null ? 'in progress' : `took ${duration(endedAt - startedAt)}`
  return [
    ...(isPreview ? ['from a preview'] : [WRITERS[by] ?? by, ended]),
    waitMs === 0 ? '' : `a turn waited ${duration(waitMs)}`,
    spend?.cost == null || spend.cost === 0 ? '' : money(spend.cost),
  ]
    .filter((words) => words !== '')
    .join(' · ')
}

function costWords({ spend }: CompactionView): string {
  if (spend === null) return 'no longer on record'
  if (spend.calls === 0) return 'no model calls'
  const { calls, inputTokens, outputTokens, cost } = spend
  const usage = `${count(calls)} ${calls === 1 ? 'call' : 'calls'}, ${tokens(inputTokens)} tokens in, ${tokens(outputTokens)} out`
  return cost === null ? `${usage}; no price configured` : `${usage}; ${money(cost)}`
}
