import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { positionsFrom } from '../../packages/core/src/compaction/layout.ts'
import { summarize } from '../../packages/core/src/compaction/summary/summarize.ts'
import type { SummaryWriter } from '../../packages/core/src/compaction/summary/summary-writer.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { estimateMessage, estimateText } from '../../packages/core/src/tokens/estimate.ts'
import { type Attempts, NOTHING_SPENT } from '../../packages/server/src/auxiliary/attempts.ts'
import { SummaryLadder } from '../../packages/server/src/auxiliary/summary-ladder.ts'
import { AuxiliaryTasks } from '../../packages/server/src/auxiliary/tasks.ts'
import { Pool } from '../../packages/server/src/model/connections/pool.ts'
import { openModel } from '../../packages/server/src/model/provider-model.ts'
import { Credentials } from '../../packages/server/src/model/routes/credential.ts'
import { Routes, routesSchema } from '../../packages/server/src/model/routes/routes.ts'

/**
 * A range of a million tokens through a summarizer of 128,000, its pieces side by side against one
 * after the other. The model is emulated at a fixed speed, so the figures are those of waiting and
 * depend little on the machine; a real model is about `SCALE` times slower.
 */
const TOKENS = 1_000_000
const SCALE = 10

export async function measurePieces(): Promise<void> {
  const child = fork(join(import.meta.dirname, 'server.ts'), ['emulated'])
  const [url] = (await once(child, 'message')) as [string]
  const head = conversation()
  const { seconds: parallel, calls } = await time(url, head, (write) => write)
  const { seconds: sequential } = await time(url, head, oneAtATime)
  const ratio = sequential / parallel
  const tokens = head.reduce((sum, message) => sum + estimateMessage(message, 'generic'), 0)
  console.log(
    `\n${tokens} tokens in ${calls} calls, model emulated ${SCALE} times too fast: s one after the other, s side by side, ratio`,
  )
  const cells = [sequential.toFixed(1), parallel.toFixed(1), ratio.toFixed(2)]
  console.log(`  ${'pieces'.padEnd(20)}${cells.map((cell) => cell.padStart(10)).join('')}`)
  child.disconnect()
}

async function time(
  url: string,
  head: readonly Message[],
  way: (write: SummaryWriter) => SummaryWriter,
) {
  const pool = new Pool()
  const desk = { pool, clock: systemClock, credentials: new Credentials({}) }
  const route = {
    provider: 'openai-compatible',
    baseUrl: `${url}/v1`,
    model: 'stand-in',
    windowTokens: 128_000,
  }
  const routes = new Routes(routesSchema.parse({ main: route }))
  const tasks = new AuxiliaryTasks({
    clock: systemClock,
    attempts: NOTHING_RECORDED,
    random: Math.random,
    openModel: (each) => openModel(each, desk),
  })
  const covered = { sessionId: sessionId('bench'), messages: head, cut: head.length }
  const ladder = new SummaryLadder({ tasks, routes, clock: systemClock }, covered)
  const startedAt = performance.now()
  const { finish } = await summarize({
    head,
    numberOf: positionsFrom(1),
    tokensMax: 3_000,
    windowTokens: 128_000,
    countTokens: (text) => estimateText(text, 'generic'),
    write: way((request, signal) => ladder.write(request, signal)),
    signal: new AbortController().signal,
  })
  const seconds = (performance.now() - startedAt) / 1_000
  if (finish !== 'stop') throw new Error(`the summary ended with ${finish}`)
  await pool.close()
  return { seconds, calls: ladder.spend.attempts }
}

const NOTHING_RECORDED: Attempts = {
  record: async () => true,
  read: async () => [],
  sum: async () => NOTHING_SPENT,
}

function oneAtATime(write: SummaryWriter): SummaryWriter {
  let last: Promise<unknown> = Promise.resolve()
  return (request, signal) => {
    const next = last.then(() => write(request, signal))
    last = next.catch(() => {})
    return next
  }
}

function conversation(): readonly Message[] {
  const messages: Message[] = []
  for (let tokens = 0, at = 0; tokens < TOKENS; at++) {
    const text = `Reading ${at}: ${'the tide stood at the third mark and the wind came from the west. '.repeat(60)}`
    const message: Message =
      at % 2 === 0
        ? { role: 'user', parts: [{ type: 'text', text }] }
        : { role: 'assistant', parts: [{ type: 'text', text }] }
    tokens += estimateMessage(message, 'generic')
    messages.push(message)
  }
  return messages
}
