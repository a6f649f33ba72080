import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { entryNumber } from '../../src/base/ids.ts'
import { clip } from '../../src/base/line.ts'
import { splitText } from '../../src/gateway/chat/split.ts'
import { standIn } from '../../src/stand-in/index.ts'
import type { Store } from '../../src/store/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { BotApiServer, TOKEN } from './bot-api-server.ts'
import { until } from './contract.ts'

/**
 * A conversation over the Bot API with a serving process that is killed at random, again and again,
 * and started anew. Telegram, the model and the people live here and outlive it. In the end every
 * update must have been delivered in exactly one turn, every turn must have one reply, and the chat
 * must show each of them once, in order, but for what the stated window allows: at most one message
 * too many per kill.
 */
export interface DrillVerdict {
  readonly kills: number
  readonly updates: number
  readonly turns: number
  readonly replies: number
  readonly messages: number
  /** Messages too many: sent by a process that died before it could note that it had. */
  readonly repeated: number
  readonly findings: readonly string[]
}

const PEOPLE = [42, 43]
const program = join(import.meta.dirname, '..', '..', 'bin', 'throughline.js')
const READY_MS = 60_000
const LIMIT = 1_000

export async function drillTelegram(terms: {
  readonly kills: number
  readonly seed: number
  readonly onKill?: (done: number) => void
}): Promise<DrillVerdict> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-drill-'))
  const random = mulberry(terms.seed)
  const api = await new BotApiServer().start()
  const model = await standIn({ speed: { outputTokensPerSecond: 400 } }).start()
  const said = new Map<number, string[]>(PEOPLE.map((person) => [person, []]))
  let number = 0
  const speak = () => {
    const person = PEOPLE[Math.floor(random() * PEOPLE.length)] ?? 42
    const text = `say ${answerFor(++number, random)}`
    said.get(person)?.push(text)
    const id = { id: person }
    api.say({ text, chat: { ...id, type: 'private' }, from: id })
  }
  writeConfig(folder, api.url, model.url)
  try {
    for (let kill = 1; kill <= terms.kills; kill++) {
      const child = await serve(folder)
      const talking = setInterval(speak, 60 + random() * 120)
      speak()
      await momentToDie(api, random)
      child.kill('SIGKILL')
      await once(child, 'exit')
      clearInterval(talking)
      terms.onKill?.(kill)
    }
    const child = await serve(folder)
    await settle(folder, said)
    child.kill('SIGTERM')
    await once(child, 'exit')
    const store = await openSqliteStore({ path: join(folder, 't.db') })
    try {
      return await judge({ store, api, said, kills: terms.kills })
    } finally {
      await store.close()
    }
  } finally {
    await model.close()
    await api.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Short ones, ones that grow for a while, and ones that need several messages. */
function answerFor(number: number, random: () => number): string {
  const chance = random()
  const words = chance < 0.6 ? 0 : chance < 0.9 ? 80 : 900
  return [`m${number}`, ...Array.from({ length: words }, (_, at) => `m${number}w${at}`)].join(' ')
}

/** After some time, or right at something that is being sent: there the window is. */
async function momentToDie(api: BotApiServer, random: () => number): Promise<void> {
  const isAimed = random() < 0.5
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  if (!isAimed) return void (await wait(50 + random() * 1_200))
  const isSending = ({ method }: { method: string }) => /^(send|edit)Message/.test(method)
  const wanted = api.calls.filter(isSending).length + 1 + Math.floor(random() * 3)
  const sent = () => api.calls.filter(isSending).length >= wanted
  await until(sent, 3_000).catch(() => {})
  await wait(random() * 8)
}

function writeConfig(folder: string, apiRoot: string, model: string): void {
  const config = `
agents: {main: {model: {provider: openai-compatible, baseUrl: "${model}/v1", model: stand-in, windowTokens: 400000}}}
http: {enabled: false}
store: t.db
logging: {level: error}
gateways:
  telegram: {apiRoot: "${apiRoot}", editSeconds: 0.1, allow: {users: [${PEOPLE.join(', ')}]}}
`
  writeFileSync(join(folder, 'throughline.yaml'), config)
}

async function serve(folder: string): Promise<ChildProcess> {
  const env = { PATH: process.env['PATH'], HOME: folder, TELEGRAM_BOT_TOKEN: TOKEN }
  const child = spawn(process.execPath, [program, 'serve', '--json'], {
    cwd: folder,
    env,
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
async function settle(folder: string, said: ReadonlyMap<number, readonly string[]>): Promise<void> {
  const store = await openSqliteStore({ path: join(folder, 't.db') })
  try {
    await until(async () => {
      for (const [person, texts] of said) {
        const id = await sessionOf(store, person)
        if (id === undefined) return texts.length === 0
        const row = await store.findSession(id)
        if (row === undefined || row.turnState !== 'idle' || row.pending.user > 0) return false
        if (row.mail < texts.length) return false
      }
      return (await store.listReplies({ state: 'waiting', limit: 1 })).length === 0
    }, 120_000)
  } finally {
    await store.close()
  }
}

async function sessionOf(store: Store, person: number) {
  const channel = `telegram:${TOKEN.split(':')[0]}`
  return (await store.findRoute({ agent: 'main', channel, address: String(person) }))?.sessionId
}

async function judge(seen: {
  readonly store: Store
  readonly api: BotApiServer
  readonly said: ReadonlyMap<number, readonly string[]>
  readonly kills: number
}): Promise<DrillVerdict> {
  const { store, api, said, kills } = seen
  const findings: string[] = (await store.verify({})).map((finding) => JSON.stringify(finding))
  const sums = { updates: 0, turns: 0, replies: 0, messages: 0, repeated: 0 }
  for (const [person, texts] of said) {
    sums.updates += texts.length
    const id = await sessionOf(store, person)
    if (id === undefined) continue
    const heads = await inputsOf(store, id)
    const heard = heads.flatMap(({ kind, text }) => (kind === 'input' ? [text] : []))
    if (JSON.stringify(heard) !== JSON.stringify(texts)) {
      findings.push(`${person}: heard ${heard.length} of ${texts.length}, or in another order`)
    }
    const turns = heads.filter(({ kind }) => kind === 'turn').length
    const replies = (await store.listReplies({ sessionId: id, limit: LIMIT })).toSorted(
      (a, b) => a.number - b.number,
    )
    const keys = new Set(replies.map(({ key }) => key))
    if (keys.size !== replies.length || replies.length !== turns) {
      findings.push(`${person}: ${turns} turns, ${replies.length} replies, ${keys.size} keys`)
    }
    if (replies.some(({ state }) => state !== 'sent')) findings.push(`${person}: not all sent`)
    const wanted = replies.flatMap(({ body }) => piecesOf(body))
    const shown = api.chat(person).map(({ text }) => text.trim())
    const { extra, problem } = extrasOf(shown, wanted, texts)
    if (problem !== null) findings.push(`${person}: ${problem}`)
    sums.turns += turns
    sums.replies += replies.length
    sums.messages += shown.length
    sums.repeated += extra.length
  }
  if (sums.repeated > kills) findings.push(`${sums.repeated} messages too many for ${kills} kills`)
  return { kills, ...sums, findings }
}

async function inputsOf(store: Store, id: NonNullable<Awaited<ReturnType<typeof sessionOf>>>) {
  const found: { kind: string; text: string }[] = []
  const tail = (await store.findSession(id))?.tail ?? 0
  for (let from = 1; from <= tail; from += LIMIT) {
    const to = entryNumber(Math.min(tail, from + LIMIT - 1))
    const entries = await store.readEntries({ sessionId: id, from: entryNumber(from), to })
    for (const { kind, body } of entries) {
      const said = JSON.parse(body ?? '{}') as {
        message?: { parts?: readonly { text?: string }[] }
      } | null
      found.push({ kind, text: said?.message?.parts?.[0]?.text ?? '' })
    }
  }
  return found
}

function piecesOf(body: string | null): readonly string[] {
  const { text } = JSON.parse(body ?? '{}') as { text: string }
  return splitText(text, 4_096).map((piece) => piece.trim())
}

/**
 * What stands there beside the wanted ones: each is a part of an answer that was begun and left. The
 * turn may have been answered otherwise in the end, because more was said meanwhile.
 */
function extrasOf(
  shown: readonly string[],
  wanted: readonly string[],
  said: readonly string[],
): { readonly extra: readonly string[]; readonly problem: string | null } {
  const extra: string[] = []
  let at = 0
  for (const text of shown) {
    if (text === wanted[at]) at++
    else extra.push(text)
  }
  const isPart = (text: string) => {
    const begun = text.replace(/ ?…$/, '')
    return [...wanted, ...said].some((each) => each.includes(begun))
  }
  if (at < wanted.length) {
    const [next, last] = [clip(wanted[at] ?? '', 60), clip(wanted[at - 1] ?? '', 60)]
    return { extra, problem: `behind "${last}" (${at}) there is no "${next}"` }
  }
  const strange = extra.find((text) => !isPart(text))
  return { extra, problem: strange === undefined ? null : `nobody said "${clip(strange, 200)}"` }
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

if (import.meta.main) {
  const option = (name: string, otherwise: number) => {
    const at = process.argv.indexOf(`--${name}`)
    return at < 0 ? otherwise : Number(process.argv[at + 1])
  }
  const seed = option('seed', Date.now() % 1_000_000)
  const kills = option('kills', 100)
  const onKill = (done: number) => process.stderr.write(done % 10 === 0 ? `${done}\n` : '.')
  const verdict = await drillTelegram({ kills, seed, onKill })
  process.stdout.write(`${JSON.stringify({ seed, ...verdict })}\n`)
  process.exitCode = verdict.findings.length === 0 ? 0 : 1
}
