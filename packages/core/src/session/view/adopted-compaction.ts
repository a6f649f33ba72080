import { entryNumber, type SessionId } from '../../base/ids.ts'
import { isObject, type JsonValue } from '../../base/json.ts'
import { isCount } from '../../store/measure.ts'
import type { Entry, OperationRow } from '../../store/tables/rows.ts'

/** How a handoff was made that no operation of the store records: the body of its entry says so. */
export interface MadeElsewhere {
  readonly trigger: 'background' | 'preflight' | 'manual'
  readonly reason: string
  readonly startedAt: number
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/**
 * The operation of a handoff that came with its history: from the proxy, or from another store. The
 * latter says nothing about how it was made.
 */
export function adoptedOperation(
  sessionId: SessionId,
  entry: Entry & { readonly kind: 'compaction' },
): OperationRow {
  const { number, at, operation: id, fence, meta } = entry
  const covers = entryNumber(meta.covers)
  const previous = entryNumber(meta.previous)
  const { trigger, reason, startedAt, ...sizes } = madeOf(entry) ?? {
    ...{ trigger: IMPORTED, reason: 'it came with the conversation', startedAt: at },
  }
  return {
    ...{ id, sessionId, by: meta.by, fence, covers, previous, base: previous },
    ...{ trigger, reason, startedAt, endedAt: at, requestedBy: null, state: 'committed' },
    result: { ...sizes, entry: number, isAdopted: true },
  }
}

const IMPORTED = 'imported'

/** Whether the store knows the calls that wrote it: those of another store are not here. */
export function isImported({ trigger }: OperationRow): boolean {
  return trigger === IMPORTED
}

/** Null if the body does not say it as the proxy does: an imported file can contain anything. */
function madeOf({ at, body }: Entry): MadeElsewhere | null {
  const value = body === null ? null : (JSON.parse(body) as JsonValue)
  const made = isObject(value) ? value['made'] : undefined
  if (!isObject(made)) return null
  const { trigger, reason, startedAt, tokensBefore, tokensAfter } = made
  const isKnown = trigger === 'background' || trigger === 'preflight' || trigger === 'manual'
  if (!isKnown || typeof reason !== 'string') return null
  if (!isNumber(startedAt) || !isNumber(tokensBefore) || !isNumber(tokensAfter)) return null
  return { trigger, reason, startedAt: Math.min(startedAt, at), tokensBefore, tokensAfter }
}

function isNumber(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && isCount(value)
}
