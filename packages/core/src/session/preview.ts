import type { EntryNumber, SessionId } from '../base/ids.ts'
import { operationId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { Handoff } from '../message/handoff/handoff.ts'
import type { Reads } from '../store/contract.ts'
import type { OperationRow } from '../store/tables/rows.ts'
import { carriedBy, judgeHandoff, NOT_SMALLER, planCover } from './context/budget.ts'
import { buildContext, tokensBeside } from './context/build.ts'
import type { SessionView } from './context/session-view.ts'
import { readSource } from './context/source.ts'
import type { HandoffWriter } from './handoff.ts'
import type { SessionSettings } from './settings.ts'

/**
 * Previews a compaction of a session. It claims and writes nothing; any process may call it.
 * `install` is the body of a control item that commits exactly this handoff, provided that the base
 * of the context has not changed meanwhile (decision 17).
 */
export type Preview =
  | {
      readonly kind: 'previewed'
      readonly sessionId: SessionId
      readonly covers: EntryNumber
      readonly base: EntryNumber
      readonly handoff: Handoff
      readonly tokensBefore: number
      readonly tokensAfter: number
      readonly install: JsonObject
    }
  | { readonly kind: 'nothing-to-do'; readonly sessionId: SessionId }
  | { readonly kind: 'failed'; readonly sessionId: SessionId; readonly reason: string }

export async function previewCompaction(
  request: {
    readonly store: Reads
    readonly writer: HandoffWriter
    readonly settings: SessionSettings
    readonly sessionId: SessionId
    readonly focus?: string
  },
  signal: AbortSignal,
): Promise<Preview> {
  const { store, writer, settings, sessionId, focus = null } = request
  const present = await store.readContext({ sessionId })
  if (present === null) return { kind: 'failed', sessionId, reason: 'unknown-session' }
  const { session } = present
  const context = buildContext(present, session.limits, session.tail)
  const none = { controls: [], waiting: [], operations: [], replyTo: null }
  const view: SessionView = { session, context, ...none }
  const covers = planCover(view, 'manual', settings)
  if (covers === null) return { kind: 'nothing-to-do', sessionId }

  const operation: OperationRow = {
    id: operationId('preview'),
    sessionId,
    by: 'model',
    trigger: 'manual',
    reason: 'preview',
    requestedBy: null,
    fence: session.fence,
    base: session.base,
    covers,
    previous: session.effective,
    state: 'running',
    result: {},
    startedAt: 0,
    endedAt: null,
  }
  const carries = carriedBy(view, covers)
  const source = await readSource(store, session, operation, context, carries)
  const { limits } = session
  const { agent } = session
  const reply = await writer.write({ agent, operation, focus, limits, settings, ...source }, signal)
  if (reply.kind === 'failed') return { kind: 'failed', sessionId, reason: reply.reason }
  const { handoff, tokens } = reply
  const problem = judgeHandoff(view, { by: 'model', covers, tokens, carries })
  if (problem === NOT_SMALLER) return { kind: 'nothing-to-do', sessionId }
  if (problem !== null) return { kind: 'failed', sessionId, reason: problem }
  const { base } = session
  return {
    kind: 'previewed',
    sessionId,
    covers,
    base,
    handoff,
    tokensBefore: context.tokens,
    tokensAfter: tokensBeside(context, { covers, carries, tokens }, limits),
    install: { base, covers, tokens, carries, handoff: handoff as unknown as JsonValue },
  }
}
