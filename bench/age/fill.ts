import { DatabaseSync } from 'node:sqlite'

/** How much lies in a store beside the sessions that are measured. */
export interface Age {
  readonly sessions: number
  readonly entries: number
  readonly replies: number
  readonly attempts: number
}

const BATCH = 50_000
const FIRST_SESSION = 100_000
const HASH = new Uint8Array(32)
const DAY_MS = 86_400_000

/**
 * Ages a store by rows that nobody reads, written straight into its tables: their hashes are of
 * nothing. Goes on where an earlier run ended, and prints how far it is.
 */
export function fillStore(path: string, age: Age, report: (text: string) => void): void {
  const database = new DatabaseSync(path)
  database.exec('pragma synchronous = off')
  const columns = database.prepare('select * from session limit 1').get()
  if (columns === undefined) throw new Error('The store needs one session to copy.')
  const names = Object.keys(columns).filter((name) => !['n', 'id', 'scope'].includes(name))
  const copy = database.prepare(`insert into session (n, id, scope, ${names.join(', ')})
    select ?, ?, ?, ${names.map((name) => (name === 'tail' || name === 'replies' ? '0' : name)).join(', ')}
    from session where n = (select min(n) from session)`)
  const entry = database.prepare(`insert into entry
    (id, kind, operation, fence, at, tokens, meta, body, salt, body_hash, prev_hash, hash)
    values (?, ?, ?, 1, ?, 20, '{}', null, null, ?, ?, ?)`)
  const reply = database.prepare(`insert into reply
    (id, entry, edge, address, key, body, state, attempt, claimant, due_at, at, receipt)
    values (?, ?, 'telegram', ?, ?, '{"text":"an old answer"}', 'sent', 1, null, 0, ?, 'r')`)
  const attempt = database.prepare(`insert into attempt
    (id, session, task, model_route, outcome, input_tokens, output_tokens, at, cached_tokens, cost, host)
    values (?, ?, ?, 'anthropic/m@host', 'answered', 9000, 300, ?, 8000, 5, 'host')`)
  const started = Date.now() - 365 * DAY_MS
  const at = (index: number, of: number) => Math.floor(started + (index / of) * 364 * DAY_MS)
  const sessionOf = (index: number) => FIRST_SESSION + (index % age.sessions)
  const idOf = (session: number, index: number) =>
    (BigInt(session) << 31n) | BigInt(Math.floor(index / age.sessions) + 1)
  const kinds = ['input', 'assistant', 'result', 'assistant'] as const
  const parts: Record<keyof Age, (index: number) => void> = {
    sessions: (index) => copy.run(FIRST_SESSION + index, `old-${index}`, `old-${index}`),
    entries: (index) => {
      const kind = kinds[Math.floor(index / age.sessions) % 4] ?? 'input'
      const id = idOf(sessionOf(index), index)
      entry.run(id, kind, `o${index}`, at(index, age.entries), HASH, HASH, HASH)
    },
    replies: (index) => {
      const session = sessionOf(index)
      reply.run(idOf(session, index), index, `a${session}`, `k${index}`, at(index, age.replies))
    },
    attempts: (index) => {
      const task = index % 50 === 0 ? 'compaction' : 'turn'
      const session = `old-${index % age.sessions}`
      attempt.run(`old-${index}`, session, task, at(index, age.attempts))
    },
  }
  database.exec('create table if not exists bench_age (part text primary key, done integer)')
  for (const [part, add] of Object.entries(parts) as [keyof Age, (index: number) => void][]) {
    const row = database.prepare('select done from bench_age where part = ?').get(part)
    for (let done = Number(row?.['done'] ?? 0); done < age[part]; ) {
      const end = Math.min(age[part], done + BATCH)
      database.exec('begin')
      for (let index = done; index < end; index++) add(index)
      database.prepare('insert or replace into bench_age values (?, ?)').run(part, end)
      database.exec('commit')
      done = end
      report(`${part}: ${end} of ${age[part]}`)
    }
  }
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
}
