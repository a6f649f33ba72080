import type { Socket } from 'node:net'
import type { JsonValue } from '#core/base/json'
import type { Fault } from './faults.ts'

/**
 * The requests and connections that the stand-in received, for tests. Kept in memory, bounded, and
 * never written anywhere.
 */
export interface JournalEntry {
  /** Counted from 1 over the life of the stand-in. */
  readonly number: number
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | undefined }
  /** Byte for byte as received, if it was UTF-8. */
  readonly bodyText: string
  /** Absent if the text is not JSON. */
  readonly body?: JsonValue
  readonly socket: SocketRecord
  /** The connection had carried a request before this one. */
  readonly reused: boolean
  readonly fault: Fault | undefined
  /** Absent until headers were sent. */
  readonly status: number | undefined
  /** `answered`: complete; `faulted`: cut off by the stand-in; `left`: the client went first. */
  readonly outcome: 'open' | 'answered' | 'faulted' | 'left'
  /** On the clock of `performance.now()`. */
  readonly startedAtMs: number
  readonly endedAtMs: number | undefined
}

export interface SocketRecord {
  /** Counted from 1 over the life of the stand-in; never reused. */
  readonly id: number
  readonly requests: number
  readonly openedAtMs: number
  /** Absent while the connection is open. */
  readonly closedAtMs: number | undefined
  /** The side that closed it first. */
  readonly closedBy: 'client' | 'stand-in' | undefined
}

type Changing<Value> = { -readonly [Key in keyof Value]: Value[Key] }
export type OpenEntry = Changing<JournalEntry>

const ENTRIES_MAX = 10_000
const SOCKETS_MAX = 20_000
const CHARACTERS_MAX = 64_000_000

export class Journal {
  #entries: OpenEntry[] = []
  #sockets: Changing<SocketRecord>[] = []
  readonly #open = new Map<Socket, Changing<SocketRecord>>()
  #characters = 0
  #requests = 0
  #socketsOpened = 0
  readonly #entriesMax: number

  constructor(entriesMax = ENTRIES_MAX) {
    this.#entriesMax = entriesMax
  }

  /** Oldest first; the oldest are dropped when there are too many or their bodies are too large. */
  get entries(): readonly JournalEntry[] {
    return this.#entries
  }

  get last(): JournalEntry | undefined {
    return this.#entries.at(-1)
  }

  get sockets(): readonly SocketRecord[] {
    return this.#sockets
  }

  get openSockets(): number {
    return this.#open.size
  }

  get socketsOpened(): number {
    return this.#socketsOpened
  }

  get requests(): number {
    return this.#requests
  }

  /** Requests that are still being answered. */
  get openRequests(): number {
    return this.#entries.filter(({ outcome }) => outcome === 'open').length
  }

  /** Forgets past requests; numbers continue, and open connections stay listed. */
  clear(): void {
    this.#entries = []
    this.#sockets = [...this.#open.values()]
    this.#characters = 0
  }

  openSocket(socket: Socket): void {
    const record: Changing<SocketRecord> = {
      id: ++this.#socketsOpened,
      requests: 0,
      openedAtMs: performance.now(),
      closedAtMs: undefined,
      closedBy: undefined,
    }
    this.#open.set(socket, record)
    this.#sockets.push(record)
    if (this.#sockets.length > SOCKETS_MAX) this.#sockets.shift()
    const blameClient = () => {
      record.closedBy ??= 'client'
    }
    socket.once('end', blameClient)
    socket.once('error', blameClient)
    socket.once('close', () => {
      record.closedAtMs = performance.now()
      record.closedBy ??= 'stand-in'
      this.#open.delete(socket)
    })
  }

  /** Resolves when all connections that are open now have closed. */
  async closed(): Promise<void> {
    const sockets = [...this.#open.keys()]
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve))),
    )
  }

  openEntry(
    socket: Socket,
    facts: Pick<JournalEntry, 'method' | 'path' | 'headers' | 'bodyText' | 'body'>,
  ): OpenEntry {
    const record = this.#open.get(socket)
    if (record === undefined) throw new Error('a request came over a connection never opened')
    record.requests++
    const entry: OpenEntry = {
      ...facts,
      number: ++this.#requests,
      socket: record,
      reused: record.requests > 1,
      fault: undefined,
      status: undefined,
      outcome: 'open',
      startedAtMs: performance.now(),
      endedAtMs: undefined,
    }
    this.#entries.push(entry)
    this.#characters += entry.bodyText.length
    while (this.#entries.length > this.#entriesMax || this.#characters > CHARACTERS_MAX) {
      const oldest = this.#entries.shift()
      if (oldest === undefined) break
      this.#characters -= oldest.bodyText.length
    }
    return entry
  }
}
