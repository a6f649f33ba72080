import { expect, it } from 'vitest'
import { LIMITS } from '../../test/support/session-host.ts'
import type { Message } from '../message/message.ts'
import { messageCounter } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import { handoffWriter } from './handoff.ts'
import { SESSION_SETTINGS } from './state.ts'

const COUNTERS = {
  countTokens: (text: string) => estimateText(text, 'generic'),
  countMessage: messageCounter('generic'),
}

it('gives way between its pieces, so that it never holds the process for the whole', async () => {
  const messages: readonly Message[] = Array.from({ length: 30 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    parts: [
      { type: 'text', text: `Part ${index} of the work in src/part-${index}.ts. `.repeat(20) },
    ],
  }))
  const request = {
    agent: 'main',
    operation: { trigger: 'background' },
    focus: null,
    ...{ messages, cut: 20, limits: LIMITS, settings: SESSION_SETTINGS },
  } as unknown as Parameters<ReturnType<typeof handoffWriter>['write']>[0]
  for (const summarize of [undefined, async () => ({ text: 'Done.', finish: 'stop' }) as const]) {
    let turns = 0
    const breathe = async () => {
      turns++
    }
    const parts = { breathe, ...(summarize !== undefined && { summarize }) }
    const reply = await handoffWriter(COUNTERS, parts).write(request, new AbortController().signal)
    expect(reply.kind).toBe('written')
    // Behind the summary, before the ledger, before it is judged.
    expect(turns).toBe(3)
  }
})
