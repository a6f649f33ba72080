/**
 * `npm run bench:proxy`: what the proxy does before a request goes on, beside a bare pass-through in
 * the same run. A client sends its whole history with every request, as agents do; both proxies get
 * the same requests in turns.
 */
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ALLOCATOR } from '../../packages/server/src/cli/commands/run/proxy-process.ts'
import { ProxyChild } from '../../test/clients/proxy-child.ts'

const LIMITS = { medianMs: 5, p99Ms: 20, largeMs: 100, rssMb: 250 }
const STEPS = 400
const STEP_BYTES = 4_300
const LARGE_BYTES = 5_500_000
const LARGE_STEPS = 30

const arrivals = new Map<string, number>()
const REPLY =
  'data: {"type":"message_start","message":{"usage":{"input_tokens":9}}}\n\n' +
  'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n' +
  'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}\n\n' +
  'data: {"type":"message_stop"}\n\n'

const provider = createServer((asked, response) => {
  arrivals.set(String(asked.headers['x-bench']), performance.now())
  asked.resume()
  asked.once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(REPLY)
  })
})

/** From the moment the client sends to the moment the first byte is at the provider. */
async function timeTo(port: number, session: string, body: Buffer): Promise<number> {
  const id = randomUUID()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const start = performance.now()
  const request = ask(
    {
      ...{ host: '127.0.0.1', port, method: 'POST', path: '/v1/messages' },
      headers: {
        ...{ 'content-type': 'application/json', 'content-length': body.length, 'x-bench': id },
        'x-claude-code-session-id': session,
      },
    },
    (answer) => {
      answer.resume()
      answer.once('end', resolve)
    },
  )
  request.once('error', reject)
  request.end(body)
  await promise
  const at = arrivals.get(id) ?? Number.NaN
  arrivals.delete(id)
  return at - start
}

const messages: object[] = []

function grow(bytes: number): Buffer {
  const id = `toolu_${messages.length}`
  const text = `${randomUUID()} said and "quoted"\n`.repeat(Math.ceil(bytes / 50))
  const call = { type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } }
  const result = { type: 'tool_result', tool_use_id: id, content: text }
  if (messages.length === 0) messages.push({ role: 'user', content: 'Begin.' })
  messages.push({ role: 'assistant', content: [{ type: 'text', text: 'ok' }, call] })
  messages.push({ role: 'user', content: [result] })
  const tools = [{ name: 'Bash', description: 'x'.repeat(80_000) }]
  const body = { model: 'claude-sonnet-4-5', messages, system: 'x'.repeat(12_000), tools }
  return Buffer.from(JSON.stringify(body))
}

const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)
const share = (numbers: readonly number[], part: number) =>
  sorted(numbers)[Math.floor(part * (numbers.length - 1))] ?? 0

const memory = (pid: number, field: string) =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) /
  1_024

await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
const home = mkdtempSync(join(tmpdir(), 'throughline-bench-proxy-'))
// So large a window that no handoff comes: every request is read, recorded and sent whole.
const proxy = new ProxyChild(home, url, ['--window', '100000000'])
// In a clone the first start removes the types of every file, in each thread, and keeps the result.
// The published package has none, so the second start is measured.
await proxy.start()
await proxy.kill('SIGTERM')
await proxy.start()
const env = { ...ALLOCATOR, ...process.env }
const bare = fork(join(import.meta.dirname, 'pass-through.ts'), [url], { env })
const barePort = await new Promise<number>((resolve) =>
  bare.once('message', ({ port }: { port: number }) => resolve(port)),
)
const session = randomUUID()

async function measure(steps: number, bytes: number) {
  const own: number[] = []
  const passed: number[] = []
  let size = 0
  for (let step = 0; step < steps; step += 1) {
    const body = grow(bytes)
    size = body.length
    passed.push(await timeTo(barePort, session, body))
    own.push(await timeTo(proxy.port, session, body))
  }
  // Steps are alike, so each is compared with its own pass-through.
  const added = own.map((value, index) => value - (passed[index] ?? 0))
  return { size, own, passed, added }
}

const broken: string[] = []
const small = await measure(STEPS, STEP_BYTES)
const median = share(small.added, 0.5)
const p99 = share(small.added, 0.99)
console.log(
  `history to ${(small.size / 1e6).toFixed(2)} MB, ${STEPS} requests: own work median ${median.toFixed(1)} ms, ` +
    `p99 ${p99.toFixed(1)} ms (pass-through median ${share(small.passed, 0.5).toFixed(1)} ms, ` +
    `p99 ${share(small.passed, 0.99).toFixed(1)} ms)`,
)
if (median > LIMITS.medianMs) broken.push(`median ${median.toFixed(1)} ms`)
if (p99 > LIMITS.p99Ms) broken.push(`p99 ${p99.toFixed(1)} ms`)

while (grow(200_000).length < LARGE_BYTES) {}
const first = await timeTo(proxy.port, session, grow(STEP_BYTES))
const large = await measure(LARGE_STEPS, STEP_BYTES)
const largeMedian = share(large.added, 0.5)
console.log(
  `history of ${(large.size / 1e6).toFixed(2)} MB, ${LARGE_STEPS} requests: own work median ` +
    `${largeMedian.toFixed(1)} ms, slowest ${share(large.added, 1).toFixed(1)} ms ` +
    `(pass-through median ${share(large.passed, 0.5).toFixed(1)} ms); 3.8 MB new in one request: ${first.toFixed(0)} ms`,
)
if (largeMedian > LIMITS.largeMs) broken.push(`large ${largeMedian.toFixed(1)} ms`)
const rss = memory(proxy.pid, 'VmHWM')
console.log(
  `most memory of the proxy: ${rss.toFixed(0)} MB (now ${memory(proxy.pid, 'VmRSS').toFixed(0)} MB); ` +
    `pass-through ${memory(bare.pid ?? 0, 'VmHWM').toFixed(0)} MB`,
)
if (rss > LIMITS.rssMb) broken.push(`memory ${rss.toFixed(0)} MB`)
await proxy.kill('SIGTERM')
bare.kill()
provider.closeAllConnections()
provider.close()
rmSync(home, { recursive: true, force: true })
for (const what of broken) console.log(`missed: ${what}`)
process.exit(broken.length === 0 ? 0 : 1)
