import type { Clock } from '../base/clock.ts'
import { KnownError } from '../base/errors.ts'
import { operationId } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type { Store } from '../store/contract.ts'
import type { OperationRow, SessionRow } from '../store/tables/rows.ts'
import { readSource, readSourceWithout } from './context/source.ts'
import { type HandoffWriter, written } from './handoff.ts'
import type { Effect, EventBody } from './protocol/state.ts'
import type { SessionSettings } from './settings.ts'

export interface HandoffParts {
  readonly store: Store
  readonly clock: Clock
  readonly writers: { readonly model: HandoffWriter; readonly digest: HandoffWriter }
  readonly settings: SessionSettings
  /** A handoff that takes longer is aborted. */
  readonly handoffMsMax: number
}

/**
 * Reads the covered entries and has the handoff written; resolves with the event that reports the
 * result.
 */
export async function writeHandoff(
  parts: HandoffParts,
  session: SessionRow,
  wanted: Extract<Effect, { kind: 'writeHandoff' }>,
  { controller, mayAct }: { controller: AbortController; mayAct: () => boolean },
): Promise<EventBody> {
  const { operation, focus, context, limits, carries } = wanted
  const { store, settings, writers, clock, handoffMsMax } = parts
  const failed = (reason: string): EventBody => ({
    ...{ kind: 'handoff failed', operation: operation.id, reason },
  })
  const cancelDeadline = clock.after(handoffMsMax, () => controller.abort('deadline'))
  try {
    const source = await readSource(store, session, operation, context, carries)
    const { agent } = session
    const request = { agent, operation, focus, limits, settings, ...source }
    // Reading took time; check the lease before calling a writer.
    if (!mayAct()) return { kind: 'lost' }
    // Aborted during the read: a process that is closing may already have released the session.
    if (controller.signal.aborted) return failed(String(controller.signal.reason))
    const writer = operation.by === 'digest' ? writers.digest : writers.model
    const reply = await writer.write(request, controller.signal)
    return reply.kind === 'failed' ? failed(reply.reason) : written(operation.id, reply, carries)
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    // A busy store says nothing about the handoff, so this does not count as an attempt.
    return error.retryable
      ? { kind: 'handoff delayed', operation: operation.id }
      : failed(error.code)
  } finally {
    cancelDeadline()
  }
}

/**
 * A digest of the covered range without the erased entries: erased text is not sent to a model. A
 * busy store is retried for as long as the lease holds: an erasure must not fail for that.
 */
export async function replaceHandoff(
  parts: HandoffParts,
  readSession: () => SessionRow,
  wanted: Extract<Effect, { kind: 'replaceHandoff' }>,
  mayAct: () => boolean,
): Promise<EventBody> {
  const { mail, entries, context } = wanted
  const { store, clock, settings, writers } = parts
  while (mayAct()) {
    const session = readSession()
    const { agent, limits, effective, covers, base, owed, fence } = session
    try {
      const source = await readSourceWithout(store, session, entries, context)
      if (!mayAct()) break
      const operation: OperationRow = {
        ...{ id: operationId('erasure'), sessionId: session.id, by: 'digest', state: 'running' },
        ...{ trigger: 'manual', reason: 'erasure', fence, base, covers, previous: effective },
        ...{ requestedBy: null, result: {}, startedAt: 0, endedAt: null },
      }
      const request = { agent, operation, focus: null, limits, settings, ...source }
      const reply = await writers.digest.write(request, new AbortController().signal)
      const replacement =
        reply.kind === 'failed'
          ? null
          : { body: reply.handoff as unknown as JsonValue, tokens: reply.tokens }
      return { kind: 'replacement written', mail, base, owed, replacement }
    } catch (error) {
      if (!(error instanceof KnownError) || !error.retryable) throw error
    }
    await new Promise<void>((resolve) => void clock.after(settings.retryMs, resolve))
  }
  return { kind: 'lost' }
}
