import { systemClock } from '#core/base/clock'
import type { EntryNumber, SessionId } from '#core/base/ids'
import { buildContext } from '#core/session/context/build'
import { measureRevert, readRange } from '#core/session/context/source'
import { adoptedOperation } from '#core/session/view/adopted-compaction'
import type { Store } from '#core/store/contract'
import { ClientSessions, isClientSession } from './client-sessions.ts'
import { HARD_SHARE } from './frame.ts'
import { ASKED_BY_CLIENT } from './prepare.ts'
import { NotRecordedError } from './stored-session.ts'

/** The end of an undo in a client's session. Sizes are those of the client's next request. */
export type HandoffUndo =
  | {
      readonly kind: 'undone'
      readonly compaction: EntryNumber
      readonly tokensBefore: number
      readonly tokensAfter: number
      /** Sent once without the provider's cache: everything behind system text and tools. */
      readonly uncachedTokens: number
    }
  | { readonly kind: 'refused'; readonly problem: string }

/**
 * Undoes this handoff of a client's session if it is the newest: the proxy sends the covered messages themselves
 * again, as long as they fit. No process runs such a session, so it is done here, between two
 * requests of the client; the proxy reads it from the store. Null: this is no client's session.
 */
export async function undoHandoff(
  store: Store,
  id: SessionId,
  handoff: EntryNumber,
): Promise<HandoffUndo | null> {
  if (!(await isClientSession(store, id))) return null
  const source = await store.readContext({ sessionId: id })
  if (source === null) return null
  const { session, effective, limits } = source
  const [made] = effective === 0 ? [] : await readRange(store, id, effective - 1, effective)
  if (made?.kind !== 'compaction') {
    return refused(`No handoff is in effect in session ${id}; there is nothing to undo.`)
  }
  if (effective !== handoff) return refused(NOT_NEWEST)
  if (adoptedOperation(id, made).reason === ASKED_BY_CLIENT) {
    return refused(
      'The client asked for this handoff and replaced its own history by it, so it no longer sends ' +
        'the messages before it. Go back in the client instead.',
    )
  }
  const context = buildContext(source, limits, session.tail)
  const system = context.system.reduce((sum, { tokens }) => sum + tokens, 0)
  const uncachedTokens = await measureRevert(store, session, context, effective)
  const tokensAfter = system + uncachedTokens
  const most = Math.floor(limits.hardTokens * HARD_SHARE)
  if (tokensAfter > most) {
    return refused(
      `Without the handoff the next request would have about ${tokensAfter.toLocaleString('en')} tokens, and the model's window has room for ${most.toLocaleString('en')}.`,
    )
  }
  const sessions = new ClientSessions({ store, clock: systemClock })
  try {
    if (!(await sessions.undo(id, effective))) return refused(NOT_NEWEST)
  } catch (error) {
    if (!(error instanceof NotRecordedError)) throw error
    return refused(`A proxy is writing to session ${id}. Ask again later.`)
  } finally {
    await sessions.close()
  }
  const tokensBefore = context.tokens
  return { kind: 'undone', compaction: effective, tokensBefore, tokensAfter, uncachedTokens }
}

const NOT_NEWEST =
  'Someone else has undone it, the client has gone back to before it, or a newer one replaced it.'

function refused(problem: string): HandoffUndo {
  return { kind: 'refused', problem }
}
