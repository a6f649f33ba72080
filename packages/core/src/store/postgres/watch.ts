import type pg from 'pg'
import type { RunnerId } from '../../base/ids.ts'
import {
  type Connections,
  newClient,
  type PostgresConnectionOptions,
} from './connections/connections.ts'
import { Presence } from './connections/presence.ts'

/**
 * Runner names in one notification, below the server's limit of 8,000 bytes; beyond that, all
 * runners are woken.
 */
const NAMES_MAX = 100
const GATHER_MS = 5

/**
 * Wakes watchers. NOTIFY is sent separately after the commit, collected over a few milliseconds:
 * inside the writing transaction it takes a server-wide lock (5,870 commits a second became 2,300).
 * It is only a hint and may be lost with its connection; polling finds every change, because the
 * server's snapshot changes with every commit of any process.
 */
export class ChangeWatch {
  readonly #connections: Connections
  readonly #options: PostgresConnectionOptions & { readonly pollMs: number }
  readonly #tell: () => void
  readonly presence: Presence
  readonly #others = new Set<RunnerId | ''>()
  #listener: pg.Client | undefined
  #connecting: Promise<void> | undefined
  #gathering: NodeJS.Timeout | undefined
  #polling: NodeJS.Timeout | undefined
  #poll: Promise<void> | undefined
  #snapshot = ''
  #closed = false

  constructor(
    connections: Connections,
    options: PostgresConnectionOptions & { readonly pollMs: number },
    tell: () => void,
  ) {
    this.#connections = connections
    this.#options = options
    this.#tell = tell
    this.presence = new Presence(this.#channel())
  }

  /** Starts with the first watcher; without watchers there is no connection. */
  start(): void {
    if (this.#polling !== undefined || this.#closed) return
    this.#polling = setInterval(() => {
      this.#poll ??= this.#look().finally(() => {
        this.#poll = undefined
      })
    }, this.#options.pollMs)
    this.#polling.unref()
    this.#connecting = this.#listen()
  }

  /**
   * The holders of changed sessions; `''` means no holder, so any runner may acquire the session.
   */
  notify(holders: ReadonlySet<RunnerId | ''>): void {
    for (const holder of holders) {
      if (holder === '' || !this.presence.has(holder)) this.#others.add(holder)
    }
    if (this.#others.size === 0 || this.#gathering !== undefined || this.#closed) return
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined
      const names = [...this.#others]
      this.#others.clear()
      const everybody = names.includes('') || names.length > NAMES_MAX
      const text = 'select pg_notify($1, $2)'
      const values = [this.#channel(), everybody ? '' : names.join()]
      // Lost or refused: watchers find the change at the next poll.
      this.#connections.query({ text, values }).catch(() => {})
    }, GATHER_MS)
  }

  #channel(): string {
    return `throughline_${this.#options.schema}`.slice(0, 63)
  }

  async #listen(): Promise<void> {
    const client = newClient(this.#options)
    try {
      await client.connect()
      client.on('notification', ({ payload = '' }) => {
        const named = payload.split(',') as RunnerId[]
        if (payload === '' || named.some((runner) => this.presence.has(runner))) this.#tell()
      })
      client.on('end', () => this.#lose(client))
      await client.query(`listen ${this.#channel()}`)
      await this.presence.connect(client)
      if (this.#closed) await client.end()
      else this.#listener = client
    } catch {
      // No connection to spare: polling takes over and tries again.
      await client.end().catch(() => {})
    }
  }

  /** At once: other processes do not see this process's runners until it reconnects. */
  #lose(client: pg.Client): void {
    this.presence.disconnect(client)
    if (this.#listener !== client) return
    this.#listener = undefined
    if (!this.#closed) this.#connecting = this.#listen()
  }

  async #look(): Promise<void> {
    try {
      const text = 'select pg_current_snapshot()::text as snapshot'
      const [row] = await this.#connections.query({ text, values: [] })
      const snapshot = String(row?.['snapshot'])
      if (snapshot !== this.#snapshot) this.#tell()
      this.#snapshot = snapshot
      if (this.#listener === undefined && !this.#closed) {
        this.#connecting = this.#listen()
        await this.#connecting
      }
    } catch {
      // The server is unreachable; the next poll will find the change.
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#polling)
    clearTimeout(this.#gathering)
    await this.#poll
    await this.#connecting
    await this.#listener?.end().catch(() => {})
  }
}
