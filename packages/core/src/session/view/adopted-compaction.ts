import { entryNumber, type SessionId } from '../../base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Entry, OperationRow } from '../../store/rows.ts'

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
  const { trigger, reason, startedAt, ...sizes } = madeOf(entry)
  return {
    ...{ id, sessionId, by: meta.by, fence, covers, previous, base: previous },
    trigger: typeof trigger === 'string' ? trigger : IMPORTED,
    reason: typeof reason === 'string' ? reason : 'it came with the conversation',
    requestedBy: null,
    state: 'committed',
    result: { ...sizes, entry: number, isAdopted: true },
    startedAt: typeof startedAt === 'number' ? startedAt : at,
    endedAt: at,
  }
}

const IMPORTED = 'imported'

/** Whether the store knows the calls that wrote it: those of another store are not here. */
export function isImported({ trigger }: OperationRow): boolean {
  return trigger === IMPORTED
}

function madeOf({ body }: Entry): JsonObject {
  const value = body === null ? null : (JSON.parse(body) as JsonValue)
  const made = isObject(value) ? value['made'] : undefined
  return isObject(made) ? made : {}
}
