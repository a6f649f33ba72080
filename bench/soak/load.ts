import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BotApiServer } from '../../test/gateways/bot-api-server.ts'

/**
 * What people and programs do to a server over weeks, a few times a second: messages to sessions that
 * are awake and to some that have to be woken, tools, compactions, forks, chats, reads, listeners
 * that come and go.
 */
export interface LoadTerms {
  readonly url: string
  readonly chat: BotApiServer
  readonly people: readonly number[]
  readonly perSecond: number
  /** From 0 to 1. */
  readonly random: () => number
  readonly signal: AbortSignal
}

const SESSIONS = 40
/** The others rest for minutes: they are released, and the next message wakes them. */
const AWAKE = 8
const AWAKE_MS = 120_000
const ANSWER_MS_MAX = 120_000
const TRIES_MAX = 10
const LISTEN_MS_MAX = 20_000
const WORDS = 'tide gauge harbour crane quay container north pier light fog ferry chart'.split(' ')

export class Load {
  /** Answered messages, replies in chats included. */
  messages = 0
  compactions = 0
  forks = 0
  failures = 0
  readonly #terms: LoadTerms
  readonly #sessions = Array.from({ length: SESSIONS }, (_, index) => `soak${index}`)
  readonly #running = new Set<Promise<void>>()
  readonly #talking = new Set<number>()
  #count = 0

  constructor(terms: LoadTerms) {
    this.#terms = terms
  }

  fail(reason: string): void {
    this.failures++
    console.log(`failure: ${reason}`)
  }

  async run(): Promise<void> {
    const { perSecond, random, signal } = this.#terms
    await Promise.all(this.#sessions.map((id) => this.#open(id)))
    while (!signal.aborted) {
      const done = this.#act()
        .catch((error: unknown) => {
          if (!signal.aborted) this.fail(reasonOf(error))
        })
        .finally(() => this.#running.delete(done))
      this.#running.add(done)
      await sleep((2_000 * random()) / perSecond, undefined, { signal }).catch(() => {})
    }
    await Promise.all(this.#running)
  }

  async #act(): Promise<void> {
    const { random } = this.#terms
    const chance = random()
    if (chance < 0.62) return await this.#say(this.#text())
    if (chance < 0.77) return await this.#say(this.#toolText())
    if (chance < 0.92) return await this.#chat()
    if (chance < 0.93) return await this.#fork()
    if (chance < 0.94) return await this.#compact()
    if (chance < 0.97) return await this.#listen()
    return await this.#read()
  }

  #pick(): string {
    const { random } = this.#terms
    const first = Math.floor(performance.now() / AWAKE_MS) * AWAKE
    const at = random() < 0.05 ? random() * SESSIONS : first + random() * AWAKE
    return this.#sessions[Math.floor(at) % this.#sessions.length] ?? ''
  }

  #text(): string {
    const { random } = this.#terms
    const word = () => WORDS[Math.floor(random() * WORDS.length)]
    const words = Array.from({ length: 20 + Math.floor(random() * 60) }, word).join(' ')
    return `Note ${++this.#count}: ${words}.\nsay Noted ${this.#count}: ${words}.`
  }

  #toolText(): string {
    const content = `look at note ${++this.#count}`
    const tasks = { tasks: [{ content, status: 'pending' }] }
    return `use tasks ${JSON.stringify(tasks)}\nthen\nsay Task ${this.#count} is kept.`
  }

  async #say(text: string): Promise<void> {
    const path = `/v1/sessions/${this.#pick()}/messages?wait=reply`
    const { reply } = (await this.#post(path, { text })) as { reply?: unknown }
    if (reply === undefined) throw new Error(`${path}: no reply in time`)
    this.messages++
  }

  /** One question at a time: messages that meet in a turn get one answer. */
  async #chat(): Promise<void> {
    const { people } = this.#terms
    const id = people.find((each) => !this.#talking.has(each))
    if (id === undefined) return
    this.#talking.add(id)
    await this.#ask(id).finally(() => this.#talking.delete(id))
  }

  async #ask(id: number): Promise<void> {
    const { chat, signal } = this.#terms
    const answer = `Heard ${++this.#count}.`
    chat.say({ text: `say ${answer}`, chat: { id, type: 'private' }, from: { id } })
    const deadline = performance.now() + ANSWER_MS_MAX
    while (!chat.messages.some((shown) => shown.chat === id && shown.text.includes(answer))) {
      if (signal.aborted) return
      if (performance.now() > deadline) throw new Error('a chat got no reply in time')
      await sleep(250)
    }
    this.messages++
    // Its record would grow for as long as the soak runs.
    chat.messages.splice(0, Math.max(0, chat.messages.length - 200))
    chat.calls.splice(0)
  }

  /** The fork takes the part of its origin, which then rests for good. */
  async #fork(): Promise<void> {
    const id = this.#pick()
    const { entries } = (await this.#get(`/v1/sessions/${id}`)) as { entries: number }
    if (entries < 1) return
    const path = `/v1/sessions/${id}/forks`
    const { sessionId } = (await this.#post(path, { at: entries })) as { sessionId: string }
    this.#sessions[this.#sessions.indexOf(id)] = sessionId
    this.forks++
  }

  async #compact(): Promise<void> {
    await this.#post(`/v1/sessions/${this.#pick()}/compactions`, {})
    this.compactions++
  }

  async #listen(): Promise<void> {
    const { url, random, signal } = this.#terms
    const leave = AbortSignal.any([
      signal,
      AbortSignal.timeout(Math.ceil(random() * LISTEN_MS_MAX)),
    ])
    try {
      const response = await fetch(`${url}/v1/sessions/${this.#pick()}/events`, { signal: leave })
      for await (const _ of response.body ?? []) if (leave.aborted) return
    } catch (error) {
      if (!leave.aborted) throw error
    }
  }

  async #read(): Promise<void> {
    const id = this.#pick()
    await this.#get(`/v1/sessions/${id}/context`)
    await this.#get(`/v1/sessions/${id}/search?q=harbour`)
    await this.#get('/v1/health')
    await this.#get('/v1/sessions')
  }

  /** A session that an earlier run made is there already. */
  async #open(id: string): Promise<void> {
    await this.#post('/v1/sessions', { agent: 'main', id }, 409)
  }

  async #post(path: string, body: unknown, otherwise?: number): Promise<unknown> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
    const request = { method: 'POST', headers, body: JSON.stringify(body) }
    return await this.#fetch(path, otherwise, request)
  }

  async #get(path: string): Promise<unknown> {
    return await this.#fetch(path)
  }

  async #fetch(path: string, otherwise?: number, request: RequestInit = {}): Promise<unknown> {
    const response = await this.#request(path, request)
    const answer = (await response.json()) as unknown
    if (response.ok || response.status === otherwise) return answer
    throw new Error(`${path}: ${response.status}`)
  }

  /**
   * Clients repeat a request whose connection was closed just then, or that arrived too slowly for the
   * server (408), as happens on a busy machine.
   */
  async #request(path: string, request: RequestInit): Promise<Response> {
    for (let tries = 1; ; tries++) {
      try {
        const signal = AbortSignal.timeout(ANSWER_MS_MAX)
        const response = await fetch(this.#terms.url + path, { ...request, signal })
        if (tries === TRIES_MAX || response.status !== 408) return response
        await response.arrayBuffer()
      } catch (error) {
        if (tries === TRIES_MAX || !reasonOf(error).includes('ECONNRESET')) throw error
      }
    }
  }
}

function reasonOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : { cause: undefined }
  return cause === undefined ? String(error) : `${error}: ${cause}`
}
