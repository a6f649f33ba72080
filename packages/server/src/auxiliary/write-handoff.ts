import type { SessionId } from '#core/base/ids'
import type { SummaryWriter } from '#core/compaction/summary/summarize'
import type { Message } from '#core/message/message'
import type { Spend } from './attempts.ts'
import { type LadderParts, type Provenance, SummaryLadder } from './summary-ladder.ts'

/**
 * Handoffs whose summary a model writes. What a handoff is made of, and whether it may be installed,
 * is the maker's; here it gets its summary, and the reply says what that cost and, where there is
 * none, why.
 */
export function handoffsBy<Ask extends HandoffAsk, Reply extends HandoffResult>(
  parts: LadderParts,
  makerFor: (summarize: SummaryWriter) => HandoffMaker<Ask, Reply>,
): HandoffMaker<Ask, Reply & Account> {
  return {
    async write(request, signal) {
      const { messages, cut, operation } = request
      const ladder = new SummaryLadder(parts, { messages, cut, sessionId: operation.sessionId })
      const maker = makerFor((asked, stop) => ladder.write(asked, stop))
      const reply = await maker.write(request, signal)
      const { spend, failure, provenance } = ladder
      const isOurs = reply.kind === 'failed' && failure !== undefined && !signal.aborted
      return {
        ...reply,
        ...(isOurs && { reason: failure }),
        ...(reply.kind === 'written' && provenance !== undefined && { provenance }),
        spend,
      }
    },
  }
}

/** What it cost, and who wrote it. */
export interface Account {
  readonly spend: Spend
  readonly provenance?: Provenance
}

/** As a session asks: whose conversation, what of it, up to where. */
export interface HandoffAsk {
  readonly operation: { readonly sessionId: SessionId }
  readonly messages: readonly Message[]
  readonly cut: number
}

export type HandoffResult =
  | { readonly kind: 'written' }
  | { readonly kind: 'failed'; readonly reason: string }

export interface HandoffMaker<Ask, Reply> {
  write(request: Ask, signal: AbortSignal): Promise<Reply>
}
