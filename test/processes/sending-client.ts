import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { KnownError } from '../../packages/core/src/base/errors.ts'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { Admit } from '../../packages/core/src/store/commits.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'

/**
 * One sender. Its messages are numbered and fully determined by their number. Each is sent until it
 * is acknowledged, and only then written to the sender's file. A restarted sender continues after
 * the last line of that file.
 */
export class SendingClient {
  readonly #store: Store
  readonly #folder: string
  readonly #name: string
  readonly #sessions: readonly string[]
  #next: number

  constructor(parts: {
    readonly store: Store
    readonly folder: string
    readonly name: string
    readonly sessions: readonly string[]
  }) {
    this.#store = parts.store
    this.#folder = parts.folder
    this.#name = parts.name
    this.#sessions = parts.sessions
    this.#next = (readAcks(parts.folder, parts.name).at(-1)?.index ?? -1) + 1
  }

  /** Sends until quiet is requested, or `count` messages are acknowledged. */
  async run(paceMs: number, count = Number.POSITIVE_INFINITY): Promise<void> {
    for (let sent = 0; sent < count && !isQuietWanted(this.#folder); sent++) {
      await this.send()
      await sleep(paceMs)
    }
  }

  async send(): Promise<void> {
    const request = messageOf(this.#name, this.#next, this.#sessions)
    const outcome = await this.#admit(request)
    if (outcome.kind !== 'admitted' && outcome.kind !== 'duplicate') {
      throw new Error(`${request.key} was not taken: ${JSON.stringify(outcome)}`)
    }
    const line = [this.#next, request.key, outcome.sessionId, outcome.mail, request.lane]
    appendFileSync(acksFile(this.#folder, this.#name), `${line.join(' ')}\n`)
    this.#next++
  }

  async #admit(request: Admit) {
    for (;;) {
      try {
        const outcome = await this.#store.admit(request)
        // A full mailbox refuses before anything is acknowledged; try again.
        if (outcome.kind !== 'full') return outcome
      } catch (error) {
        if (!(error instanceof KnownError)) throw error
      }
      await sleep(20)
    }
  }
}

export interface Ack {
  readonly index: number
  readonly key: string
  readonly sessionId: string
  readonly mail: number
  readonly lane: string
  readonly source: string
}

const acksFile = (folder: string, name: string) => join(folder, `acks-${name}`)

export function readAcks(folder: string, name: string): readonly Ack[] {
  const file = acksFile(folder, name)
  if (!existsSync(file)) return []
  // An incomplete last line was being written when the process was killed: not acknowledged.
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => {
    const [index, key = '', session = '', mail, lane = ''] = line.split(' ')
    return { index: Number(index), key, sessionId: session, mail: Number(mail), lane, source: name }
  })
}

export function isQuietWanted(folder: string): boolean {
  return existsSync(join(folder, 'quiet'))
}

/**
 * Every tenth message is a notification; of sixty, one requests a compaction and one an unknown
 * control; half are sent by route. The last session gets few messages, so that it becomes idle in
 * between.
 */
function messageOf(name: string, index: number, sessions: readonly string[]): Admit {
  const busy = Math.max(1, sessions.length - 1)
  const id = sessions[index % 20 === 7 ? sessions.length - 1 : (index * 7) % busy] ?? ''
  const key = `${name}-${index}@${id}`
  const to =
    index % 2 === 0
      ? { sessionId: sessionId(id) }
      : { route: { agent: agentOf(id), channel: 'chat', address: id } }
  if (index % 30 === 29) {
    const control = index % 60 === 59 ? 'unheard-of' : 'compact'
    return { to, source: name, key, lane: 'control', control, body: {}, tokens: 0 }
  }
  const text = `${key} ${'words '.repeat(40 + ((index * 37) % 60))}`
  const message = { role: 'user', parts: [{ type: 'text', text }] }
  return {
    to,
    source: name,
    key,
    lane: index % 10 === 9 ? 'notification' : 'user',
    body: { message, replyTo: { edge: 'edge', address: name } },
    tokens: Math.ceil(text.length / 4),
  }
}

/** `a3` for `a3-0`, `a3-1` …: a session is named after its agent. */
export function agentOf(session: string): string {
  return session.split('-')[0] ?? session
}
