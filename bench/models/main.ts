import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { DEADLINES } from '../../packages/server/src/model/connections/deadlines.ts'
import { Pool } from '../../packages/server/src/model/connections/pool.ts'
import { openModel } from '../../packages/server/src/model/provider-model.ts'
import type { ProviderName } from '../../packages/server/src/model/providers/names.ts'
import { Credentials } from '../../packages/server/src/model/routes/credential.ts'
import { measurePieces } from './pieces.ts'

/**
 * `npm run bench:models`: what our layer costs over the bare package of a provider, per streamed
 * token and per call, in processor time of this process (the server has its own), a thousand streams
 * at once, and what pieces side by side save on a long range. The two sides are measured in turn and compared by their medians, because other
 * programs may be running; the figures in microseconds depend on the machine, the ratios hardly.
 */
const ROUNDS = Number(process.argv[2] ?? 9)
const TOKENS = 20_000
const CALLS = 100
const STREAMS = 1_000

const child = fork(join(import.meta.dirname, 'server.ts'))
const [url] = (await once(child, 'message')) as [string]
const pool = new Pool()
const desk = { pool, clock: systemClock, credentials: new Credentials({}) }
const model = 'stand-in'

const BARE: { readonly [name: string]: () => LanguageModelV4 } = {
  'openai-chat': () => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' }).chat(model),
  'openai-responses': () => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' }).responses(model),
  anthropic: () => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'none' })(model),
  'openai-compatible': () =>
    createOpenAICompatible({ name: 'bench', baseURL: `${url}/v1`, includeUsage: true })(model),
}

async function runBare(provider: string, tokens: number): Promise<void> {
  const made = BARE[provider]?.()
  if (made === undefined) throw new Error(`no package for ${provider}`)
  const prompt = [
    { role: 'user' as const, content: [{ type: 'text' as const, text: `tokens ${tokens}` }] },
  ]
  const { stream } = await made.doStream({ prompt, maxOutputTokens: TOKENS * 2 })
  const reader = stream.getReader()
  let characters = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    if (value.type === 'text-delta') characters += value.delta.length
  }
  if (characters !== tokens * 4) throw new Error(`${characters} characters came`)
}

async function runOurs(provider: string, tokens: number): Promise<void> {
  const ours = openModel(
    {
      name: provider,
      provider: provider as ProviderName,
      baseUrl: `${url}/v1`,
      credential: { kind: 'none' },
      model,
    },
    desk,
  )
  const stream = ours.stream(
    {
      messages: [{ role: 'user', parts: [{ type: 'text', text: `tokens ${tokens}` }] }],
      outputTokensMax: TOKENS * 2,
    },
    { purpose: 'bench', signal: new AbortController().signal, deadlines: DEADLINES },
  )
  let characters = 0
  let outcome = ''
  for await (const piece of stream) {
    if (piece.kind === 'text') characters += piece.text.length
    else if (piece.kind === 'end') outcome = piece.outcome.kind
  }
  if (characters !== tokens * 4 || outcome !== 'finished') {
    throw new Error(`${characters} characters came, ${outcome}`)
  }
}

/** Processor microseconds that this process spent. */
async function spent(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

async function compare(units: number, bare: () => Promise<void>, ours: () => Promise<void>) {
  await bare()
  await ours()
  const times = { bare: [] as number[], ours: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    // In turn, and each side first every other time.
    const order = round % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const)
    for (const side of order) times[side].push(await spent(side === 'bare' ? bare : ours))
  }
  const [bareUs, oursUs] = [median(times.bare) / units, median(times.ours) / units]
  return { bareUs, oursUs, ratio: oursUs / bareUs }
}

async function many(count: number, run: () => Promise<void>): Promise<void> {
  for (let at = 0; at < count; at++) await run()
}

function line(name: string, { bareUs, oursUs, ratio }: Awaited<ReturnType<typeof compare>>) {
  const cells = [bareUs.toFixed(1), oursUs.toFixed(1), ratio.toFixed(2)]
  console.log(`  ${name.padEnd(20)}${cells.map((cell) => cell.padStart(10)).join('')}`)
}

console.log(`µs per streamed token (${TOKENS} tokens, median of ${ROUNDS}): bare, ours, ratio`)
for (const provider of Object.keys(BARE)) {
  const bare = () => runBare(provider, TOKENS)
  line(provider, await compare(TOKENS, bare, () => runOurs(provider, TOKENS)))
}
console.log(
  `\nµs per call (10 tokens each, ${CALLS} calls, median of ${ROUNDS}): bare, ours, ratio`,
)
for (const provider of Object.keys(BARE)) {
  const bare = () => many(CALLS, () => runBare(provider, 10))
  line(provider, await compare(CALLS, bare, () => many(CALLS, () => runOurs(provider, 10))))
}
console.log(`\n${STREAMS} streams of 40 tokens at once: CPU s, wall s, more MB of memory`)
for (const [name, run] of [
  ['bare', runBare],
  ['ours', runOurs],
] as const) {
  const memoryBefore = process.memoryUsage().rss
  const startedAt = performance.now()
  const cpuUs = await spent(async () => {
    const streams = Array.from({ length: STREAMS }, () => run('openai-responses', 40))
    await Promise.all(streams)
  })
  const cells = [
    (cpuUs / 1e6).toFixed(1),
    ((performance.now() - startedAt) / 1e3).toFixed(1),
    ((process.memoryUsage().rss - memoryBefore) / 1e6).toFixed(0),
  ]
  console.log(`  ${name.padEnd(20)}${cells.map((cell) => cell.padStart(10)).join('')}`)
}

await measurePieces()
await pool.close()
child.disconnect()
