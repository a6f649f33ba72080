import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { standIn } from '../../packages/server/src/stand-in/index.ts'
import { PROGRAM } from '../support/run-cli.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { until } from '../support/until.ts'
import { type Conversation, isSettled, judge, type KillVerdict } from './kill-verdict.ts'

/**
 * A conversation over a chat platform with a serving process that is killed at random, again and
 * again, and started anew. The platform, the model and the people live here and outlive it. What
 * must hold in the end is said by the judge.
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
  /** The platform compares nonces, so that nothing is ever said twice. */
  readonly nonce: boolean
  say(address: string, text: string): void
  /** What the bot has said in all chats, in the order of its first appearance. */
  shown(): readonly ShownMessage[]
  /** Whether it would receive a message now. */
  isListening(): boolean
  /** Of the serving process, of any kind. */
  connections(): number
  /** How often it has written so far, changes included. */
  writes(): number
}

export interface ShownMessage {
  readonly address: string
  readonly text: string
  readonly isEdited: boolean
}

export interface KillTerms {
  readonly kills: number
  readonly seed: number
  readonly onKill?: (done: number) => void
}

const READY_MS = 60_000
const SETTLE_MS = 120_000
/** A long answer takes about a second: longer than most lives would only be given up in the end. */
const SPEED = { outputTokensPerSecond: 4_000 }
const LONG_WORDS = 900

export async function drillKills(
  platform: DrilledPlatform,
  terms: KillTerms,
): Promise<KillVerdict> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-kills-'))
  const random = seededRandom(terms.seed)
  const model = await standIn({ speed: SPEED }).start()
  const said = new Map<string, string[]>(platform.addresses.map((address) => [address, []]))
  /** How much was shown when each process was dead. */
  const lives: number[] = []
  const conversation: Conversation = { platform, said, lives }
  const sayTo = (address: string, text: string) => {
    said.get(address)?.push(text)
    platform.say(address, text)
  }
  let number = 0
  const speak = () => {
    const at = Math.floor(random() * platform.addresses.length)
    sayTo(platform.addresses[at] ?? '', `say ${answerFor(++number, random)}`)
  }
  writeConfig(folder, platform, model.url)
  try {
    for (let kill = 1; kill <= terms.kills; kill++) {
      const child = await serve(folder, platform)
      // The first words of a place are those that a bot is there for.
      if (kill === 1) {
        await until(() => platform.isListening(), READY_MS)
        for (const address of platform.addresses) sayTo(address, 'say hello')
        await settle(folder, conversation)
      }
      speak()
      const talking = setInterval(speak, 100 + random() * 300)
      // Most die while they work, some before they have begun to.
      if (random() < 0.8) await until(() => platform.isListening(), READY_MS)
      await momentToDie(platform, random)
      child.kill('SIGKILL')
      await once(child, 'exit')
      clearInterval(talking)
      // What it sent last may still be on its way.
      await until(() => platform.connections() === 0)
      lives.push(platform.shown().length)
      // Nobody serves; people go on talking.
      if (random() < 0.3) speak()
      terms.onKill?.(kill)
    }
    const child = await serve(folder, platform)
    await settle(folder, conversation)
    child.kill('SIGTERM')
    await once(child, 'exit')
    return await withStore(folder, (store) => judge(store, conversation))
  } finally {
    await model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Short ones, ones that grow for a while, and ones that need several messages. */
function answerFor(number: number, random: () => number): string {
  const chance = random()
  const words = chance < 0.6 ? 0 : chance < 0.9 ? 80 : LONG_WORDS
  return [`m${number}`, ...Array.from({ length: words }, (_, at) => `m${number}w${at}`)].join(' ')
}

/** After some time, or right at something that is being written: there the windows are. */
async function momentToDie(platform: DrilledPlatform, random: () => number): Promise<void> {
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  if (random() < 0.4) return void (await wait(50 + random() * 1_000))
  const wanted = platform.writes() + 1 + Math.floor(random() * 3)
  await until(() => platform.writes() >= wanted, 3_000).catch(() => {})
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
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--json'], {
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
async function settle(folder: string, conversation: Conversation): Promise<void> {
  await withStore(folder, (store) =>
    until(() => isSettled(store, conversation), SETTLE_MS).catch(() => {
      // What is missing is said by the judge.
    }),
  )
}

async function withStore<Result>(
  folder: string,
  use: (store: Awaited<ReturnType<typeof openSqliteStore>>) => Promise<Result>,
): Promise<Result> {
  const store = await openSqliteStore({ path: join(folder, 't.db') })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
