import { DatabaseSync } from 'node:sqlite'
import { type Age, BATCH, DAY_MS } from './age.ts'

const FIRST_SESSION = 100_000
/** A seal would cover the copied row, so the others have none. */
const EMPTIED: Readonly<Record<string, string>> = { tail: '0', replies: '0', seal: 'null' }
const HASH = new Uint8Array(32)

/**
 * Ages a store by rows that are never read, written straight into its tables: their hashes are of
 * nothing. Goes on where an earlier run ended, and prints how far it is.
 */
export function fillSqlite(path: string, age: Age, report: (text: string) => void): void {
  const database = new DatabaseSync(path)
  database.exec('pragma synchronous = off')
  const columns = database.prepare('select * from session limit 1').get()
  if (columns === undefined) throw new Error('The store needs one session to copy.')
  const names = Object.keys(columns).filter((name) => !['n', 'id', 'scope'].includes(name))
  const copy = database.prepare(`insert into session (n, id, scope, ${names.join(', ')})
    select ?, ?, ?, ${names.map((name) => EMPTIED[name] ?? name).join(', ')}
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
  // Session by session, and keys in the order of the alphabet: rows then join at the end of every
  // tree. In any other order each row reads and writes pages all over the file.
  const place = (index: number, of: number) => {
    const each = Math.ceil(of / age.sessions)
    const session = FIRST_SESSION + Math.floor(index / each)
    const number = index % each
    const at = Math.floor(started + ((number + 1) / each) * 364 * DAY_MS)
    return { session, number, at, id: (BigInt(session) << 31n) | BigInt(number + 1) }
  }
  const key = (index: number) => String(index).padStart(9, '0')
  const kinds = ['input', 'assistant', 'result', 'assistant'] as const
  const parts: Record<keyof Age, (index: number) => void> = {
    sessions: (index) => copy.run(FIRST_SESSION + index, `old-${index}`, `old-${index}`),
    entries: (index) => {
      const { id, number, at } = place(index, age.entries)
      entry.run(id, kinds[number % 4] ?? 'input', `o${key(index)}`, at, HASH, HASH, HASH)
    },
    replies: (index) => {
      const { id, session, number, at } = place(index, age.replies)
      reply.run(id, number + 1, `a${session}`, `k${key(index)}`, at)
    },
    attempts: (index) => {
      const task = index % 50 === 0 ? 'compaction' : 'turn'
      const session = `old-${index % age.sessions}`
      const at = Math.floor(started + (index / age.attempts) * 364 * DAY_MS)
      attempt.run(`old-${key(index)}`, session, task, at)
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
