import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { entryNumber, type SessionId } from '../../src/base/ids.ts'
import { splitText } from '../../src/gateway/chat/split.ts'
import { standIn } from '../../src/stand-in/index.ts'
import type { Store } from '../../src/store/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { until } from './contract.ts'

/**
 * A conversation over a chat platform with a serving process that is killed at random, again and
 * again, and started anew. The platform, the model and the people live here and outlive it. In the
 * end every message must have been delivered in exactly one turn, every turn must have one reply,
 * and the chat must show each of them once, in order.
 */
export interface DrilledPlatform {
  /** Of the routes: `discord:7001`. */
  readonly channel: string
  /** The section `gateways` of the configuration, in one line. */
  readonly gateways: string
  readonly env: Readonly<Record<string, string>>
  /** Of the chats that people talk in. */
  readonly addresses: readonly string[]
  readonly lengthMax: number
  say(address: string, text: string): void
  /** What the bot has said there, oldest first. */
  shown(address: string): readonly string[]
  /** It would be told now of what somebody says. */
  isListening(): boolean
  /** How often it has written so far, changes included. */
  writes(): number
}

export interface KillVerdict {
  readonly kills: number
  readonly said: number
  readonly turns: number
  readonly replies: number
  readonly shown: number
  readonly findings: readonly string[]
}

const program = join(import.meta.dirname, '..', '..', 'bin', 'throughline.js')
const READY_MS = 60_000
const SETTLE_MS = 120_000
const LIMIT = 1_000

export async function drillKills(
  platform: DrilledPlatform,
  terms: {
    readonly kills: number
    readonly seed: number
    readonly onKill?: (done: number) => void
  },
): Promise<KillVerdict> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-kills-'))
  const random = mulberry(terms.seed)
  const model = await standIn({ speed: { outputTokensPerSecond: 400 } }).start()
  const said = new Map<string, string[]>(platform.addresses.map((address) => [address, []]))
  let number = 0
  const speak = () => {
    const at = Math.floor(random() * platform.addresses.length)
    const address = platform.addresses[at] ?? ''
    const text = `say ${answerFor(++number, random)}`
    said.get(address)?.push(text)
    platform.say(address, text)
  }
  writeConfig(folder, platform, model.url)
  try {
    for (let kill = 1; kill <= terms.kills; kill++) {
      const child = await serve(folder, platform)
      // The first words of a place are those that a bot is there for.
      if (kill === 1) await greet(folder, platform, said)
      const talking = setInterval(speak, 100 + random() * 300)
      speak()
      // Most die while they work, some before they have begun to.
      if (random() < 0.8) await until(() => platform.isListening(), READY_MS)
      await momentToDie(platform, random)
      child.kill('SIGKILL')
      await once(child, 'exit')
      clearInterval(talking)
      // Nobody serves; people go on talking.
      if (random() < 0.3) speak()
      terms.onKill?.(kill)
    }
    const child = await serve(folder, platform)
    await settle(folder, platform, said)
    child.kill('SIGTERM')
    await once(child, 'exit')
    return await withStore(folder, (store) => judge(store, platform, said, terms.kills))
  } finally {
    await model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Short ones, ones that grow for a while, and ones that need several messages. */
function answerFor(number: number, random: () => number): string {
  const chance = random()
  const words = chance < 0.6 ? 0 : chance < 0.9 ? 80 : 500
  return [`m${number}`, ...Array.from({ length: words }, (_, at) => `m${number}w${at}`)].join(' ')
}

async function greet(
  folder: string,
  platform: DrilledPlatform,
  said: ReadonlyMap<string, string[]>,
): Promise<void> {
  await until(() => platform.isListening(), READY_MS)
  for (const address of platform.addresses) {
    said.get(address)?.push('say hello')
    platform.say(address, 'say hello')
  }
  await settle(folder, platform, said)
}

/** After some time, or right at something that is being written: there the windows are. */
async function momentToDie(platform: DrilledPlatform, random: () => number): Promise<void> {
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  if (random() < 0.5) return void (await wait(50 + random() * 2_000))
  const wanted = platform.writes() + 1 + Math.floor(random() * 3)
  await until(() => platform.writes() >= wanted, 4_000).catch(() => {})
  await wait(random() * 8)
}

function writeConfig(folder: string, { gateways }: DrilledPlatform, model: string): void {
  const main = `{provider: openai-compatible, baseUrl: "${model}/v1", model: stand-in, windowTokens: 400000}`
  const lines = [
    `agents: {main: {model: ${main}}}`,
    'http: {enabled: false}',
    'store: t.db',
    'logging: {level: error}',
    `gateways: ${gateways}`,
  ]
  writeFileSync(join(folder, 'throughline.yaml'), `${lines.join('\n')}\n`)
}

async function serve(folder: string, { env }: DrilledPlatform): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, 'serve', '--json'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-2_000)
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS)
  const [first] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  clearTimeout(timer)
  if (!(first instanceof Buffer)) throw new Error(`It did not begin to serve: ${errors}`)
  return child
}

/** Until everything that was said has been taken and answered, and every answer sent. */
async function settle(
  folder: string,
  platform: DrilledPlatform,
  said: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const isSettled = async (store: Store) => {
    for (const [address, texts] of said) {
      const id = await sessionAt(store, platform, address)
      if (id === undefined) return texts.length === 0
      const row = await store.findSession(id)
      if (row === undefined || row.turnState !== 'idle' || row.pending.user > 0) return false
      if (row.mail < texts.length) return false
    }
    return (await store.listReplies({ state: 'waiting', limit: 1 })).length === 0
  }
  await withStore(folder, (store) =>
    until(() => isSettled(store), SETTLE_MS).catch(() => {
      // What is missing is said by the judge.
    }),
  )
}

async function withStore<Result>(
  folder: string,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openSqliteStore({ path: join(folder, 't.db') })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

async function sessionAt(
  store: Store,
  { channel }: DrilledPlatform,
  address: string,
): Promise<SessionId | undefined> {
  return (await store.findRoute({ agent: 'main', channel, address }))?.sessionId
}

async function judge(
  store: Store,
  platform: DrilledPlatform,
  said: ReadonlyMap<string, readonly string[]>,
  kills: number,
): Promise<KillVerdict> {
  const findings: string[] = (await store.verify({})).map((finding) => JSON.stringify(finding))
  const sums = { said: 0, turns: 0, replies: 0, shown: 0 }
  for (const [address, texts] of said) {
    sums.said += texts.length
    const id = await sessionAt(store, platform, address)
    if (id === undefined) {
      findings.push(`${address}: there is no session`)
      continue
    }
    const entries = await entriesOf(store, id)
    const heard = entries.flatMap(({ kind, text }) => (kind === 'input' ? [text] : []))
    if (JSON.stringify(heard) !== JSON.stringify(texts)) {
      const missing = texts.filter((text) => !heard.includes(text)).map((text) => text.slice(0, 12))
      findings.push(`${address}: heard ${heard.length} of ${texts.length}, without ${missing}`)
    }
    const turns = entries.filter(({ kind }) => kind === 'turn').length
    const replies = (await store.listReplies({ sessionId: id, limit: LIMIT })).toSorted(
      (a, b) => a.number - b.number,
    )
    const keys = new Set(replies.map(({ key }) => key))
    if (keys.size !== replies.length || replies.length !== turns) {
      findings.push(`${address}: ${turns} turns, ${replies.length} replies, ${keys.size} keys`)
    }
    if (replies.some(({ state }) => state !== 'sent')) findings.push(`${address}: not all sent`)
    const wanted = replies.flatMap(({ body }) => piecesOf(body, platform.lengthMax))
    // A message beyond the end of a reply that came out shorter than what was shown of it reads so.
    const shown = platform
      .shown(address)
      .map((text) => text.trim())
      .filter((text) => text !== '…')
    if (JSON.stringify(shown) !== JSON.stringify(wanted)) {
      const at = shown.findIndex((text, index) => text !== wanted[index])
      findings.push(
        `${address}: ${shown.length} messages shown, ${wanted.length} wanted; at ${at} ` +
          `${JSON.stringify(shown[at]?.slice(0, 40))} for ${JSON.stringify(wanted[at]?.slice(0, 40))}`,
      )
    }
    sums.turns += turns
    sums.replies += replies.length
    sums.shown += shown.length
  }
  return { kills, ...sums, findings }
}

async function entriesOf(store: Store, id: SessionId) {
  const found: { readonly kind: string; readonly text: string }[] = []
  const tail = (await store.findSession(id))?.tail ?? 0
  for (let from = 1; from <= tail; from += LIMIT) {
    const to = entryNumber(Math.min(tail, from + LIMIT - 1))
    const entries = await store.readEntries({ sessionId: id, from: entryNumber(from), to })
    for (const { kind, body } of entries) {
      const { message } = (JSON.parse(body ?? '{}') ?? {}) as {
        message?: { parts?: readonly { text?: string }[] }
      }
      found.push({ kind, text: message?.parts?.[0]?.text ?? '' })
    }
  }
  return found
}

function piecesOf(body: string | null, lengthMax: number): readonly string[] {
  const { text } = JSON.parse(body ?? '{}') as { text: string }
  return splitText(text, lengthMax).map((piece) => piece.trim())
}

/** A small generator of chance that a seed repeats. */
function mulberry(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
