import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { operationId, sessionId } from '#core/base/ids'
import { SummaryFailedError, WriterOverflowError } from '#core/compaction/summary/summary-writer'
import type { Message } from '#core/message/message'
import { type HandoffRequest, handoffWriter } from '#core/session/handoff'
import { limitsFor } from '#core/session/limits'
import { SESSION_SETTINGS } from '#core/session/settings'
import type { OperationRow } from '#core/store/tables/rows'
import { turns, user } from '../../../../../test/support/builders.ts'
import type { PreparedRequest } from '../../auxiliary/summary-rungs.ts'
import { countersOf } from '../models/counters.ts'
import { HandoffThread } from './handoff-thread.ts'

const thread = new HandoffThread()
afterEach(() => thread.close())

const SUMMARY = `## Progress and decisions
- The user asked for the files and the agent read them, one after the other, and reported what each of them holds.
- It was decided to go on with the next part on the next day, and nothing was changed in the meantime.
## What remains
- The last file.`

function requestFor(messages: readonly Message[]): HandoffRequest {
  const operation = { id: operationId('op'), sessionId: sessionId('s'), trigger: 'manual' }
  return {
    ...{ agent: 'main', focus: null, messages, cut: messages.length - 2, open: [] },
    entries: messages.map((_, index) => [index + 1]),
    operation: operation as unknown as OperationRow,
    limits: limitsFor({ windowTokens: 20_000, fixedTokens: 0 }),
    settings: SESSION_SETTINGS,
  }
}

const request = requestFor([...turns(40), user('What is next?')])
const job = { kind: 'session', request, family: 'generic' } as const

it('writes the same digest as the event loop does', async () => {
  const signal = new AbortController().signal
  const here = await handoffWriter(countersOf('generic')).write(request, signal)
  expect(here).toMatchObject({ kind: 'written', handoff: { by: 'digest' } })
  expect(await thread.write(job)).toEqual(here)
})

it('requests the summary on the event loop, checks it in the thread, and requests the next one', async () => {
  const asked: PreparedRequest[] = []
  const faults: string[] = []
  const reply = await thread.write(job, {
    summarize: async (wanted) => {
      asked.push(wanted)
      const provenance = { rung: 'second' }
      return {
        text: 'Sure! What would you like me to do next? Let me know!',
        finish: 'stop',
        next: async (fault) => {
          faults.push(fault)
          return { text: SUMMARY, finish: 'stop', provenance }
        },
      }
    },
  })
  expect(reply).toMatchObject({
    kind: 'written',
    handoff: { by: 'model', summary: SUMMARY },
    provenance: { rung: 'second' },
  })
  expect([asked.length, asked[0]?.isClean, faults]).toEqual([1, true, ['continuation']])
})

it('reports why there is no summary, and splits text that is too long for its writer', async () => {
  const failing = async () => Promise.reject(new SummaryFailedError('no-route'))
  expect(await thread.write(job, { summarize: failing })).toEqual({
    kind: 'failed',
    reason: 'no-route',
  })
  const pieces: (number | undefined)[] = []
  const reply = await thread.write(job, {
    summarize: async ({ piece }) => {
      pieces.push(piece?.of)
      if (pieces.length === 1) throw new WriterOverflowError(4_000)
      return { text: SUMMARY, finish: 'stop' }
    },
  })
  expect(reply.kind).toBe('written')
  expect(pieces.filter((of) => of !== undefined).length).toBeGreaterThan(1)
})

it('ends with its signal or its thread, and works again afterwards', async () => {
  const controller = new AbortController()
  const { promise: isAsked, resolve } = Promise.withResolvers<void>()
  const never = (_: PreparedRequest, signal: AbortSignal) => {
    resolve()
    return new Promise<never>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason)),
    )
  }
  const writing = thread.write(job, { summarize: never, signal: controller.signal })
  await isAsked
  controller.abort()
  expect(await writing).toEqual({ kind: 'failed', reason: 'aborted' })
  const left = thread.write(job, { summarize: never })
  await thread.close()
  expect(await left).toMatchObject({ kind: 'failed', reason: expect.stringContaining('closed') })
  expect(await thread.write(job)).toMatchObject({ kind: 'written' })
})

it('fails its jobs if its thread ends by itself, and starts another for the next', async () => {
  const workers: Worker[] = []
  const note = (message: unknown) => void workers.push((message as { worker: Worker }).worker)
  subscribe('worker_threads', note)
  onTestFinished(() => void unsubscribe('worker_threads', note))
  const { promise: isAsked, resolve } = Promise.withResolvers<void>()
  const writing = thread.write(job, {
    summarize: () => {
      resolve()
      return new Promise<never>(() => {})
    },
  })
  await isAsked
  await workers[0]?.terminate()
  expect(await writing).toEqual({ kind: 'failed', reason: 'writer: its thread has ended' })
  expect(await thread.write(job)).toMatchObject({ kind: 'written' })
  expect(workers).toHaveLength(2)
})
