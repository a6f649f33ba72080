import type { Auxiliary } from '../auxiliary/auxiliary.ts'
import type { Message } from '../message/message.ts'
import type { Store } from '../store/contract.ts'
import type { StepRequest } from '../turn/step.ts'
import type { Logger } from './logger.ts'

const TITLE_TURNS_MAX = 5

/** A session gets its name from its first answer on; one that fails is tried with the next. */
export async function nameSession(
  { store, logger }: { readonly store: Store; readonly logger: Logger },
  auxiliary: Auxiliary,
  asked: Pick<StepRequest, 'sessionId' | 'turn'> & { readonly messages: readonly Message[] },
  signal: AbortSignal,
): Promise<void> {
  const { sessionId, turn, messages } = asked
  if (turn > TITLE_TURNS_MAX) return
  const session = await store.findSession(sessionId)
  if (session === undefined || session.title !== null) return
  const written = await auxiliary.writeTitle(messages, { sessionId, signal })
  if (written.kind === 'written') await store.setTitle({ sessionId, title: written.value })
  else logger.debug({ sessionId, outcome: written.kind }, 'no title')
}
