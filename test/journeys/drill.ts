import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { standIn } from '../../packages/server/src/stand-in/index.ts'
import { type ServeProcess, startServe, writeConfig } from './serve-process.ts'
import { type Telling, Watcher } from './watcher.ts'

/**
 * The kill drill: a conversation over HTTP with a server that is killed again and again. Everything
 * is noted in files of its folder, so that a drill that was itself cut short goes on where it was,
 * and the verdict is found afterwards from those files and the store.
 */
export interface DrillTerms {
  readonly folder: string
  readonly messages: number
  readonly kills: number
  /** From 0 to 1. */
  readonly random: () => number
  readonly tell?: (line: string) => void
}

export interface Acknowledged {
  readonly n: number
  readonly mail: number
  readonly tries: number
}

export interface Drilled {
  readonly acknowledged: readonly Acknowledged[]
  readonly kills: number
  /** Kills that found a post on its way. */
  readonly torn: number
  readonly telling: Telling
}

export const DRILL_SESSION = 'drill'
const WINDOW_TOKENS = 8_000
const POST_MS_MAX = 10_000
const RETRY_MS = 50
/** Long enough that a kill often falls into the middle of an answer. */
const SPEED = { firstByteMs: 5, outputTokensPerSecond: 120 }
const SPEAK_MS_MAX = 20_000
const ANSWER_MS_MAX = 2_000
/**
 * What is asked for while nobody listens is answered so much later: a server that was killed goes on
 * before it can be followed.
 */
const UNHEARD_MS = 2_000
const KILL_MS_MAX = 150
/** How often a message is written only after the answer was read; else they share turns. */
const READ_SHARE = 0.15

export const textOf = (n: number) => `Message ${n}: the tide gauge reads ${1_000 + n} millimetres.`

export async function runDrill(terms: DrillTerms): Promise<Drilled> {
  const { folder, messages, kills, random, tell = () => {} } = terms
  const model = standIn({ speed: SPEED, script: answerOf })
  const running = await model.start()
  writeConfig(folder, { url: running.url, windowTokens: WINDOW_TOKENS })
  let server: ServeProcess | null = await startServe(folder)
  const acknowledged = [...readAcknowledged(folder)]
  let killed = readKills(folder)
  let torn = 0
  let isPosting = false
  await openSession(server.url)
  const watcher = new Watcher(() => server?.url ?? null, DRILL_SESSION)
  model.faults.always(`latency; ms=${UNHEARD_MS}`, { when: () => !watcher.isListening })
  let nextKill = acknowledged.length + 1
  const planKill = () => {
    const left = messages - acknowledged.length
    nextKill = acknowledged.length + 1 + Math.floor((random() * 2 * left) / (kills - killed + 1))
  }
  planKill()

  /** Whoever begins to speak from now on breaks off in the middle. */
  const breakOff = (): Broken => {
    const goesOn = model.faults.always('stall-mid-stream; after=0.5')
    return { isHeard: watcher.nextWord(), goesOn }
  }
  const killSoon = async (broken: Broken | null) => {
    await Promise.race([broken?.isHeard, sleep(SPEAK_MS_MAX, undefined, { ref: false })])
    await sleep(random() * KILL_MS_MAX)
    const dying = server
    server = null
    if (isPosting) torn++
    await dying?.kill()
    broken?.goesOn()
    killed++
    appendFileSync(join(folder, 'kills.txt'), `${Date.now()}\n`)
    server = await startServe(folder)
  }

  try {
    let killing: Promise<void> | null = null
    for (let n = acknowledged.length + 1; n <= messages; n++) {
      const startedAt = performance.now()
      const killFollows: boolean = killed < kills && n >= nextKill && killing === null
      // Every other one is killed in the middle of an answer: that to this message, or one before.
      const broken: Broken | null = killFollows && killed % 2 === 0 ? breakOff() : null
      let tries = 0
      for (;;) {
        const url = server?.url
        isPosting = true
        const mail = url === undefined ? null : await post(url, n).finally(() => tries++)
        isPosting = false
        if (mail !== null) {
          const row: Acknowledged = { n, mail, tries }
          appendFileSync(join(folder, 'acknowledged.jsonl'), `${JSON.stringify(row)}\n`)
          acknowledged.push(row)
          break
        }
        if (performance.now() - startedAt > 10 * POST_MS_MAX) throw new Error(`${n} is not taken.`)
        await sleep(RETRY_MS)
      }
      if (n % 100 === 0) tell(`${n} messages, ${killed} kills`)
      if (killFollows) {
        killing = killSoon(broken).then(() => {
          killing = null
          planKill()
        })
      }
      await sleep(random() * 40)
      if (random() < READ_SHARE)
        await Promise.race([watcher.nextAnswer(), sleep(ANSWER_MS_MAX, undefined, { ref: false })])
      // Nobody posts to a dead server for ever; the kills are spread over the conversation.
      if (killing !== null && random() < 0.5) await killing
    }
    await killing
    while (killed < kills) await killSoon(null)
    await untilIdle(() => server?.url ?? null, messages)
  } finally {
    watcher.close()
    await (server as ServeProcess | null)?.end()
    await running.close()
  }
  return { acknowledged, kills: killed, torn, telling: watcher.telling }
}

interface Broken {
  readonly isHeard: Promise<void>
  readonly goesOn: () => void
}

const answerOf = ({ messages }: { readonly messages: readonly { readonly role: string }[] }) => {
  const said = JSON.stringify(messages.findLast(({ role }) => role === 'user') ?? '')
  if (!said.includes('Message ')) return undefined
  const last = said.match(/Message (\d+)/g)?.at(-1) ?? ''
  return { text: `${last} is noted. ${'The gauge is read again in an hour. '.repeat(6)}` }
}

async function openSession(url: string): Promise<void> {
  await fetch(`${url}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'main', id: DRILL_SESSION }),
  }).then((response) => response.text())
}

/** Null: not acknowledged, whatever became of it. The same message always has the same key. */
async function post(url: string, n: number): Promise<number | null> {
  try {
    const response = await fetch(`${url}/v1/sessions/${DRILL_SESSION}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': `message-${n}` },
      body: JSON.stringify({ text: textOf(n) }),
      signal: AbortSignal.timeout(POST_MS_MAX),
    })
    const body = (await response.json()) as { mail?: number }
    return response.status === 202 ? (body.mail ?? null) : null
  } catch {
    return null
  }
}

async function untilIdle(urlOf: () => string | null, messages: number): Promise<void> {
  const deadline = performance.now() + Math.max(30_000, messages * 500)
  for (;;) {
    const url = urlOf()
    const row =
      url === null
        ? null
        : await fetch(`${url}/v1/sessions/${DRILL_SESSION}`)
            .then((response) => response.json() as Promise<{ state: string; waiting: number }>)
            .catch(() => null)
    if (row?.state === 'idle' && row.waiting === 0) return
    if (performance.now() > deadline) throw new Error(`Not idle: ${JSON.stringify(row)}`)
    await sleep(100)
  }
}

export function readAcknowledged(folder: string): readonly Acknowledged[] {
  const path = join(folder, 'acknowledged.jsonl')
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Acknowledged)
}

function readKills(folder: string): number {
  const path = join(folder, 'kills.txt')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).length : 0
}
