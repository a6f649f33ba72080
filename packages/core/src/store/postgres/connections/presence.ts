import type pg from 'pg'
import type { RunnerId } from '../../../base/ids.ts'
import type { ListedRunner, RunnerRow } from '../../tables/rows.ts'

const HOLD = 'select pg_try_advisory_lock(hashtext($1), hashtext($2))'
const RELEASE = 'select pg_advisory_unlock(hashtext($1), hashtext($2))'
/** The view shows the two numbers of a lock as unsigned. */
const PRESENT = `select id from unnest($2::text[]) as id where exists (
    select from pg_locks
    where locktype = 'advisory' and granted and objsubid = 2
      and database = (select oid from pg_database where datname = current_database())
      and classid::bigint = hashtext($1)::bigint & 4294967295
      and objid::bigint = hashtext(id)::bigint & 4294967295
  )`

/**
 * Distinguishes runners whose process has died from silent ones, without waiting for a lease. Each
 * runner holds an advisory lock on one connection of its process: when the process dies, its system
 * closes the connection and the server lets go of the lock. A process that is paused or cut off
 * keeps it, and its lease decides. Only a hint: acting on it dismisses the runner and raises the
 * fence, so a process that was wrongly considered dead is refused.
 *
 * A lock counts as missing only if this connection saw it before, because after a failover no
 * process has a lock yet.
 */
export class Presence {
  readonly #channel: string
  readonly #ours = new Set<RunnerId>()
  readonly #seen = new Set<string>()
  #client: pg.Client | undefined

  constructor(channel: string) {
    this.#channel = channel
  }

  has(runner: RunnerId): boolean {
    return this.#ours.has(runner)
  }

  async add(runner: RunnerId): Promise<void> {
    this.#ours.add(runner)
    await this.#client?.query(HOLD, [this.#channel, runner]).catch(() => {})
  }

  /** For a runner that has retired or is lost: its process continues under another id. */
  async remove(runner: RunnerId): Promise<void> {
    if (!this.#ours.delete(runner)) return
    await this.#client?.query(RELEASE, [this.#channel, runner]).catch(() => {})
  }

  /** On a new connection: take this process's locks again, and wait to see all others again. */
  async connect(client: pg.Client): Promise<void> {
    this.#seen.clear()
    for (const runner of this.#ours) await client.query(HOLD, [this.#channel, runner])
    this.#client = client
  }

  disconnect(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined
    this.#seen.clear()
  }

  async mark(rows: readonly RunnerRow[]): Promise<readonly ListedRunner[]> {
    const client = this.#client
    const others = rows.filter(({ id }) => !this.#ours.has(id)).map(({ id }) => id as string)
    if (client === undefined || others.length === 0) return rows
    try {
      const found = await client.query<{ id: string }>(PRESENT, [this.#channel, others])
      if (this.#client !== client) return rows
      const present = new Set(found.rows.map(({ id }) => id))
      for (const id of present) this.#seen.add(id)
      return rows.map((row) =>
        this.#seen.has(row.id) && !present.has(row.id) ? { ...row, isAbsent: true as const } : row,
      )
    } catch {
      return rows
    }
  }
}
