import { randomUUID } from 'node:crypto'
import { operationId, type SessionId } from '#core/base/ids'
import type { RecordAttempt } from '#core/store/commits'
import { costOf, type Prices } from '../../auxiliary/prices.ts'
import type { ReplyUsage } from '../../proxy/wire/wire.ts'

/** Those of the configuration, by the model's exact name. `free`: no call costs anything. */
export type ClientPrices = Prices | 'free'

export interface ClientCall {
  readonly sessionId: SessionId
  readonly client: string
  readonly model: string
  /** Absent: only the prices of the configuration apply. */
  readonly baseUrl?: string | undefined
  readonly usage: ReplyUsage
  readonly isWhole: boolean
  readonly at: number
}

/** The record of a client's call, with what it cost if a price is known. */
export function clientAttempt(call: ClientCall, prices?: ClientPrices): RecordAttempt {
  const { sessionId, client, model, baseUrl = '', isWhole, at } = call
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = call.usage
  const usage = { inputTokens, outputTokens, cacheReadTokens: cachedTokens, cacheWriteTokens }
  return {
    ...{ id: operationId(randomUUID()), sessionId, task: 'client', at },
    modelRoute: `${client}/${model}`.slice(0, 100),
    ...{ inputTokens, outputTokens, cachedTokens, outcome: isWhole ? 'replied' : 'cut' },
    cost: prices === 'free' ? 0 : costOf(usage, { model, baseUrl }, prices),
  }
}
