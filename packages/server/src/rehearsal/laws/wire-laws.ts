import { isArray, isObject, type JsonValue } from '#core/base/json'
import { LIST_MAX } from '#core/store/bounds'
import type { Reads } from '#core/store/contract'
import type { Entry } from '#core/store/tables/rows'
import type { StageModel } from '../stage/stage-model.ts'
import { CAST } from '../terms.ts'
import type { Findings } from './laws.ts'

/** Messages near or above this share of the bound may be shortened. */
const WHOLE_SHARE = 0.9

/** The part of a stage that is checked. */
export interface RecordedWire {
  readonly store: Pick<Reads, 'listSessions'>
  readonly model: Pick<StageModel, 'requestsOf'>
  entries(name: string): Promise<readonly Entry[]>
}

/**
 * Compares the requests on the wire with the store: each step of the stage's sessions must contain
 * verbatim every message that no compaction covered at that time, or that was unanswered.
 */
export async function judgeWire(stage: RecordedWire, findings: Findings): Promise<void> {
  const known = await stage.store.listSessions({ limit: LIST_MAX })
  for (const { id, state, limits } of known) {
    if (CAST[id] === undefined || state !== 'open') continue
    const requests = stage.model.requestsOf(id)
    const tokensMax = limits.inputTokens * WHOLE_SHARE
    const entries = await stage.entries(id)
    for (const { number, kind, body } of entries) {
      const other = kind === 'compaction' ? strangerIn(body ?? '', id) : undefined
      if (other !== undefined)
        findings.broken('shown', `${id}: handoff ${number} tells of ${other}`)
    }
    for (const step of stepsOf(entries)) {
      const wanted = step.visible.filter(({ tokens }) => tokens < tokensMax).map(writtenOf)
      const isReproduced = requests.some((sent) => wanted.every((text) => sent.includes(text)))
      if (isReproduced) continue
      findings.broken('shown', `${id}: the step at ${step.upto} was not sent all that it is about`)
    }
  }
}

/** Long messages of the stage begin with the name of their session. */
function strangerIn(text: string, own: string): string | undefined {
  const named = text.matchAll(/(scene-[a-z-]{1,30}) page/g)
  return [...named].map(([, name]) => name).find((name) => name !== own)
}

interface StepRecord {
  readonly upto: number
  /** Input after the range covered at that time, and all unanswered input (I34). */
  readonly visible: readonly Entry[]
}

/** Steps that a model answered; a turn stopped earlier records a step that was never sent. */
function stepsOf(entries: readonly Entry[]): readonly StepRecord[] {
  return entries.flatMap((entry, at) => {
    if (entry.kind !== 'assistant') return []
    const next = entries.slice(at + 1).find(({ kind }) => kind === 'turn' || kind === 'result')
    const isAnswered =
      next?.kind === 'result' || (next?.kind === 'turn' && next.meta.ended === 'answered')
    if (!isAnswered) return []
    const { upto } = entry.meta
    const before = entries.slice(0, upto)
    const from = Math.min(coversAt(before), answeredAt(before))
    const visible = before.filter(
      ({ kind, number, body }) => kind === 'input' && number > from && body !== null,
    )
    return [{ upto, visible }]
  })
}

/** The last input that a finished turn had answered. */
function answeredAt(entries: readonly Entry[]): number {
  let seen = 0
  let answered = 0
  for (const entry of entries) {
    if (entry.kind === 'assistant') seen = Math.max(seen, entry.meta.upto)
    if (entry.kind !== 'turn') continue
    if (entry.meta.ended === 'failed') seen = entry.number
    answered = seen
  }
  return answered
}

/** The last entry that the compaction in effect covered. */
function coversAt(entries: readonly Entry[]): number {
  const covers = new Map<number, number>([[0, 0]])
  let effective = 0
  for (const { number, kind, meta } of entries) {
    if (kind === 'compaction' && 'covers' in meta) {
      covers.set(number, meta.covers)
      effective = number
    } else if (kind === 'revert' && 'previous' in meta) effective = meta.previous
    else if (kind === 'erasure' && 'replaces' in meta && meta.replaces !== null) {
      covers.set(number, meta.replaces.covers)
      effective = number
    }
  }
  return covers.get(effective) ?? 0
}

/** Its text as it appears in a request: JSON without the quotes around it. */
function writtenOf({ body }: Entry): string {
  const value = JSON.parse(body ?? 'null') as JsonValue
  const message = isObject(value) ? value['message'] : null
  const parts = isObject(message) ? message['parts'] : null
  const [first] = isArray(parts) ? parts : []
  const text = isObject(first ?? null) ? (first as { text?: JsonValue }).text : ''
  return JSON.stringify(typeof text === 'string' ? text : '').slice(1, -1)
}
