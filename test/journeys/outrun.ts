import { setTimeout as sleep } from 'node:timers/promises'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { estimateText } from '../../packages/core/src/tokens/estimate.ts'
import { HandoffThread } from '../../packages/server/src/runtime/handoff-thread/handoff-thread.ts'
import { Journey, SUMMARIES } from './journey.ts'

/**
 * A conversation that fills its window faster than a model writes a summary: messages of a thousand
 * tokens, a small window, a slow writer. How long does each answer take?
 */
export interface OutrunTerms {
  /** What happens when the next step no longer fits. */
  readonly atHardLimit: 'digest' | 'wait'
  readonly store: 'memory' | 'sqlite'
  readonly summaryMs: number
  readonly paceMs: number
  readonly messages: number
}

export interface Outrun {
  /** Milliseconds from the post of each message to the end of its turn. */
  readonly answersMs: readonly number[]
  readonly compactions: number
  /** Compactions that a turn waited for. */
  readonly waits: number
}

const WINDOW_TOKENS = 12_000
const MESSAGE_TOKENS = 1_000
const SENTENCE = 'The pump was started at dawn and ran without a fault until the evening. '
const TEXT = SENTENCE.repeat(Math.round(MESSAGE_TOKENS / estimateText(SENTENCE, 'generic')))
const SUMMARY = `## Progress and decisions
- The user reported, message by message, that the pump was started at dawn and ran without a fault until the evening.
- The agent noted each report.
## What remains
- Nothing is open.`
const WAIT_MS = 10 * 60_000

export async function measureOutrun(terms: OutrunTerms): Promise<Outrun> {
  const { atHardLimit, store, summaryMs, paceMs, messages } = terms
  const handoffThread = new HandoffThread()
  const journey = await Journey.open({
    store,
    windowTokens: WINDOW_TOKENS,
    runtime: { settings: { idleCompactionMs: null, atHardLimit }, handoffThread },
    model: {
      speed: { firstByteMs: 100 },
      // The model lives in this process: one that read the conversation for its summary would hold
      // the event loop that answers are measured on (95 ms at a load of 6).
      script: ({ model }) => ({ text: model === SUMMARIES ? SUMMARY : 'It is noted.' }),
    },
  })
  journey.model.faults.always(`latency; ms=${summaryMs}`, {
    when: ({ model }) => model === SUMMARIES,
  })
  try {
    const id = await journey.make()
    const follower = await journey.follow(id)
    const answersMs: number[] = []
    for (let at = 0; at < messages; at++) {
      const from = follower.seen.length
      const sentAt = performance.now()
      await journey.say(id, `${at}: ${TEXT}`)
      const ended = await follower.until(
        (event) => event.type === 'stored' && event.kind === 'turn ended',
        from,
        WAIT_MS,
      )
      const tookMs = ended.seenAt - sentAt
      answersMs.push(tookMs)
      await sleep(Math.max(0, paceMs - tookMs))
    }
    const operations = await journey.store.listOperations({ sessionId: sessionId(id), limit: 100 })
    return {
      answersMs,
      compactions: follower.stored('compaction committed').length,
      waits: operations.filter(({ trigger }) => trigger === 'preflight').length,
    }
  } finally {
    await journey.close()
    await handoffThread.close()
  }
}
