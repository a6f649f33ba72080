import { setImmediate as breathe } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import type { SummaryReply, SummaryWriter } from '#core/compaction/summary/summary-writer'
import { type HandoffReply, handoffWriter } from '#core/session/handoff'
import { prepareRequest } from '../../auxiliary/summary-rungs.ts'
import { writeClientDigest } from '../client-sessions/write-digest.ts'
import { countersOf } from '../models/counters.ts'
import {
  errorOf,
  type FromThread,
  type HandoffJob,
  type SummaryAnswer,
  type ToThread,
} from './messages.ts'

/** Writes handoffs off the event loop: one over a long history takes most of a second. */
const controllers = new Map<number, AbortController>()
const asked = new Map<number, (answer: SummaryAnswer) => void>()
let asks = 0

const post = (message: FromThread) => parentPort?.postMessage(message)

parentPort?.on('message', (message: ToThread) => {
  const { call } = message
  if (message.kind === 'abort') controllers.get(call)?.abort()
  else if (message.kind === 'answer') asked.get(message.ask)?.(message.answer)
  else {
    const controller = new AbortController()
    controllers.set(call, controller)
    void write(message, controller.signal)
      .catch((error: unknown): HandoffReply => ({ kind: 'failed', reason: `writer: ${error}` }))
      .then((reply) => {
        controllers.delete(call)
        post({ kind: 'done', call, reply })
      })
  }
})

async function write(
  { call, job, asks: isAsked }: Extract<ToThread, { kind: 'write' }>,
  signal: AbortSignal,
): Promise<HandoffReply> {
  const tools = { breathe, ...(isAsked && { summarize: askingFor(call, job) }) }
  if (job.kind === 'session') {
    return await handoffWriter(countersOf(job.family), tools).write(job.request, signal)
  }
  return await writeClientDigest(job.order, tools, signal)
}

function askingFor(call: number, job: HandoffJob): SummaryWriter {
  return async (request) => {
    const prepared = job.kind === 'session' ? prepareRequest(request, job.request) : request
    return await ask((number) => ({ kind: 'ask', call, ask: number, request: prepared }))
  }
}

async function ask(question: (number: number) => FromThread): Promise<SummaryReply> {
  asks += 1
  const number = asks
  const { promise, resolve } = Promise.withResolvers<SummaryAnswer>()
  asked.set(number, resolve)
  const message = question(number)
  post(message)
  const answer = await promise
  asked.delete(number)
  if (answer.kind !== 'reply') throw errorOf(answer)
  const { call } = message
  const next: SummaryReply['next'] = (fault) =>
    ask((again) => ({ kind: 'next', call, ask: again, of: number, fault }))
  return answer.hasNext ? { ...answer.reply, next } : answer.reply
}
