import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { Message } from '../../packages/core/src/message/message.ts'
import { assistant, image, system, user } from '../support/builders.ts'
import { timerMs } from '../support/timing.ts'
import { handoffOf, openAuxiliary, SESSION } from './auxiliary-bench.ts'

/** Interrupts and messages while a summary is written, over real sockets. */
let bench: Awaited<ReturnType<typeof openAuxiliary>>
afterEach(() => bench.close())

const never = new AbortController().signal
const INTERRUPTS = 1_000

function conversation(): readonly Message[] {
  const turns = Array.from({ length: 40 }, (_, at) => [
    user(`Look at buoy ${at}.`),
    assistant(`Buoy ${at}: ${'the light is on and the chain is sound. '.repeat(8)}`),
  ])
  return [system('You are careful.'), ...turns.flat(), user('Go on.')]
}

describe('the tear test', () => {
  it('a thousand interrupts and messages leave a summary whole, and stop a vision task within 50 ms [S1, S2, fault 36]', async () => {
    // The summary is under way for as long as the interrupts take.
    const speed = { outputTokensPerSecond: 5 }
    bench = await openAuxiliary({ speed })
    const { tasks, start, handoffs, server } = bench
    const seen: string[] = []
    let isWritten = false
    const summary = handoffs.write(handoffOf(conversation()), never).finally(() => {
      isWritten = true
    })
    // The best of several: the machine may be busy with others.
    const stoppedMs: number[] = []
    for (let attempt = 0; attempt < 20 && Math.min(...stoppedMs) >= 50; attempt++) {
      const looking: Message = {
        role: 'user',
        parts: [image, { type: 'text', text: `say ${'word'.repeat(2_000)}` }],
      }
      const options = { sessionId: SESSION, signal: never }
      const vision = start('vision', { messages: [looking] }, options)
      await expect.poll(() => server.journal.openRequests).toBe(2)
      const interruptedAt = performance.now()
      expect(tasks.interrupt(SESSION)).toEqual([
        { task: 'compaction', answer: 'deferred' },
        { task: 'vision', answer: 'stopped' },
      ])
      expect((await vision.outcome).kind).toBe('interrupted')
      stoppedMs.push(performance.now() - interruptedAt)
    }
    expect(Math.min(...stoppedMs)).toBeLessThan(50)

    for (let at = 1; at < INTERRUPTS; at++) {
      seen.push(`message ${at}`)
      for (const { answer } of tasks.interrupt(SESSION)) expect(answer).toBe('deferred')
      if (at % 25 === 0) await sleep(2)
    }
    expect(isWritten).toBe(false)
    speed.outputTokensPerSecond = 10_000
    const reply = await summary
    expect(reply).toMatchObject({ kind: 'written', handoff: { by: 'model' } })
    expect(seen).toHaveLength(INTERRUPTS - 1)
    const answered = server.journal.entries.filter(({ outcome }) => outcome === 'answered')
    expect(answered).toHaveLength(1)
    expect(tasks.interrupt(SESSION)).toEqual([])
  })

  it('a shield belongs to one call and reaches no other [S3]', async () => {
    // None ends before all are under way, however long that takes.
    const speed = { outputTokensPerSecond: 5 }
    bench = await openAuxiliary({ speed })
    const { start } = bench
    const request = { messages: [user(`say ${'word'.repeat(400)}`)] }
    const options = { sessionId: SESSION, signal: never }
    const order = ['title', 'compaction', 'memory', 'compaction', 'custom'].map((task) => ({
      task,
      run: start(task, request, options),
    }))
    await expect.poll(() => bench.server.journal.openRequests).toBe(5)
    const answers = order.map(({ run }) => run.interrupt())
    expect(answers).toEqual(['stopped', 'deferred', 'stopped', 'deferred', 'stopped'])
    speed.outputTokensPerSecond = 10_000
    const kinds = await Promise.all(order.map(async ({ run }) => (await run.outcome).kind))
    expect(kinds).toEqual(['interrupted', 'answered', 'interrupted', 'answered', 'interrupted'])
    expect(order.map(({ run }) => run.interrupt())).toEqual(Array(5).fill('over'))
  })

  it('an interrupt of one session leaves the tasks of another alone [S3]', async () => {
    const speed = { outputTokensPerSecond: 5 }
    bench = await openAuxiliary({ speed })
    const { tasks, start } = bench
    const request = { messages: [user(`say ${'word'.repeat(100)}`)] }
    const other = start('title', request, { sessionId: 's2' as never, signal: never })
    await expect.poll(() => bench.server.journal.openRequests).toBe(1)
    expect(tasks.interrupt(SESSION)).toEqual([])
    speed.outputTokensPerSecond = 10_000
    expect((await other.outcome).kind).toBe('answered')
  })

  it('closing ends a shielded summary at once, and says so', async () => {
    bench = await openAuxiliary()
    bench.server.faults.always('stall-mid-stream')
    const reply = bench.handoffs.write(handoffOf(conversation()), never)
    await expect.poll(() => bench.server.journal.openRequests).toBe(1)
    await bench.tasks.close()
    expect(await reply).toMatchObject({ kind: 'failed', reason: 'aborted' })
  })

  it.each([
    ['half-open', { firstByteMs: 600 }],
    ['stall-mid-stream', { idleMs: 600 }],
    ['drip; ms=5', { totalMs: 600 }],
  ])('a hung stream (%s) ends at its deadline, give or take a tenth', async (fault, own) => {
    const deadlines = {
      connectMs: 5_000,
      firstByteMs: 5_000,
      idleMs: 5_000,
      totalMs: 1_200,
      ...own,
    }
    bench = await openAuxiliary({ auxiliary: { tasks: { compaction: { deadlines } } } })
    bench.server.faults.always(fault)
    const request = { messages: [user(`say ${'word'.repeat(400)}`)] }
    const times: number[] = []
    for (let attempt = 0; attempt < 20; attempt++) {
      const startedAt = performance.now()
      const plain = timerMs(600)
      const outcome = await bench.run('compaction', request, {
        sessionId: `s${attempt}` as never,
        signal: never,
        // One try each: the deadline is for all of them together.
        deadlines: fault.startsWith('drip') ? {} : { totalMs: 600 },
      })
      times.push(performance.now() - startedAt)
      expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/^deadline:/) })
      expect(times.at(-1)).toBeGreaterThan(540)
      if ((times.at(-1) ?? 0) < (await plain) + 60) return
    }
    throw new Error(`600 ms were asked for, the best was ${Math.min(...times)}`)
  })
})
