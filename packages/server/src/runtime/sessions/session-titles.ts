import { entryNumber } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import type { Message } from '#core/message/message'
import type { StepRequest } from '#core/session/step'
import type { Store } from '#core/store/contract'
import type { Auxiliary } from '../../auxiliary/auxiliary.ts'

const TITLE_TURNS_MAX = 5

/**
 * A session gets its title after its first answer; a failed one is retried after the next. A title
 * never restores text that was erased while it was written.
 */
export async function nameSession(
  { store, logger }: { readonly store: Store; readonly logger: Logger },
  auxiliary: Pick<Auxiliary, 'writeTitle'>,
  asked: Pick<StepRequest, 'sessionId' | 'turn' | 'upto'> & {
    readonly messages: readonly Message[]
  },
  signal: AbortSignal,
): Promise<void> {
  const { sessionId, turn, messages } = asked
  const upto = entryNumber(asked.upto)
  if (turn > TITLE_TURNS_MAX) return
  const session = await store.findSession(sessionId)
  if (session === undefined || session.title !== null) return
  const written = await auxiliary.writeTitle(messages, { sessionId, signal })
  const { kind: outcome } =
    written.kind === 'written'
      ? await store.setTitle({ sessionId, title: written.value, upto })
      : written
  if (outcome !== 'done') logger.debug({ sessionId, outcome }, 'no title')
}
