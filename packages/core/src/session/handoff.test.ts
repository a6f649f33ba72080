import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../../test/support/session-host.ts'
import type { SummaryWriter } from '../compaction/summary/summary-writer.ts'
import type { Message } from '../message/message.ts'
import { messageCounter } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import { type HandoffRequest, handoffWriter } from './handoff.ts'
import { SESSION_SETTINGS, type SessionSettings } from './settings.ts'

const COUNTERS = {
  countTokens: (text: string) => estimateText(text, 'generic'),
  countMessage: messageCounter('generic'),
}

// Each names a subject of its own: requests that differ in figures alone count as repeated.
const messages: readonly Message[] = Array.from({ length: 30 }, (_, index) => {
  const subject = String.fromCodePoint(97 + (index % 26)).repeat(index < 26 ? 4 : 5)
  const text = `Part ${index} of the work on ${subject} in src/part-${index}.ts. `.repeat(20)
  return { role: index % 2 === 0 ? 'user' : 'assistant', parts: [{ type: 'text', text }] }
})
const REQUEST = {
  agent: 'main',
  operation: { trigger: 'background' },
  focus: null,
  ...{ messages, cut: 20, open: [], limits: LIMITS, settings: SESSION_SETTINGS },
} as unknown as HandoffRequest

const points = (count: number) =>
  `## Progress\n${Array.from({ length: count }, (_, at) => `- step ${at} changed src/part-${at}.ts\n`).join('')}`

it('yields between its pieces, so that it never blocks the process', async () => {
  for (const summarize of [
    undefined,
    async () => ({ text: points(10), finish: 'stop' }) as const,
  ]) {
    let turns = 0
    const breathe = async () => {
      turns++
    }
    const parts = { breathe, ...(summarize !== undefined && { summarize }) }
    const reply = await handoffWriter(COUNTERS, parts).write(REQUEST, new AbortController().signal)
    expect(reply.kind).toBe('written')
    // Ten requests of 900 characters are looked through for rules: once after 5,000 characters. Then
    // after the space of a digest's words, the summary, the tail, all rules, host blocks, what words and
    // ledger are chosen from (twice), own words, files and tasks, the ledger, and before the check.
    expect(turns).toBe(1 + 10 + (summarize === undefined ? 1 : 0))
  }
})

it('cuts a summary that is longer than the handoff budget to the space left for it [fault 50]', async () => {
  const text = points(400)
  const summarize = async () => ({ text, finish: 'stop' }) as const
  const reply = await handoffWriter(COUNTERS, { summarize }).write(
    REQUEST,
    new AbortController().signal,
  )
  expect(reply).toMatchObject({
    kind: 'written',
    handoff: { summary: expect.stringContaining('messages 1 to 20 of the transcript') },
    tokens: expect.toSatisfy((tokens) => tokens <= LIMITS.handoffTokens),
  })
})

it('stops if it is aborted during such a pause', async () => {
  const controller = new AbortController()
  let turns = 0
  const breathe = async () => {
    turns++
    controller.abort()
  }
  const reply = await handoffWriter(COUNTERS, { breathe }).write(REQUEST, controller.signal)
  expect([reply, turns]).toEqual([{ kind: 'failed', reason: 'aborted' }, 1])
})

it('asks for the summary with the configured prompt and the focus [S12]', async () => {
  const asked: string[] = []
  const summarize: SummaryWriter = async ({ prompt }) => {
    asked.push(prompt)
    return { text: 'Done.', finish: 'stop' }
  }
  const write = async (settings: Partial<SessionSettings>, focus: string | null = null) => {
    const request = { ...REQUEST, focus, settings: { ...SESSION_SETTINGS, ...settings } }
    await handoffWriter(COUNTERS, { summarize }).write(request, new AbortController().signal)
    return asked.at(-1) ?? ''
  }
  expect(await write({})).not.toContain('As a poem.')
  expect(await write({ prompt: 'As a poem.' })).toMatch(/^As a poem\.\n/)
  expect(await write({}, 'the harbour')).toContain('the harbour')
})

describe('compaction.userTokens', () => {
  const roomy = { ...LIMITS, handoffTokens: 5_000 }
  const preservedWith = async (userTokens: number | undefined, open: readonly number[] = []) => {
    const sections = userTokens === undefined ? {} : { sections: { userTokens } }
    const settings = { ...SESSION_SETTINGS, ...sections }
    const request = { ...REQUEST, limits: roomy, settings, open }
    const reply = await handoffWriter(COUNTERS).write(request, new AbortController().signal)
    if (reply.kind !== 'written') throw new Error(reply.reason)
    return reply.handoff.preserved
  }
  const sizeOf = (preserved: Awaited<ReturnType<typeof preservedWith>>) =>
    preserved.reduce((sum, { message }) => sum + COUNTERS.countMessage(message), 0)

  it('limits the preserved messages of a session [S8]', async () => {
    expect(sizeOf(await preservedWith(undefined))).toBeGreaterThan(800)
    expect(sizeOf(await preservedWith(600))).toBeLessThanOrEqual(600)
    expect(await preservedWith(0)).toEqual([])
  })

  it('does not count open requests, which stay beside the handoff [I34]', async () => {
    const numbers = (await preservedWith(600, [18])).map(({ number }) => number)
    expect(numbers).not.toContain(19)
    expect(sizeOf(await preservedWith(600, [18]))).toBeGreaterThan(300)
  })
})
