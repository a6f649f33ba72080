import type pg from 'pg'
import { type Age, BATCH, DAY_MS } from './age.ts'

/** A seal would cover the copied row, so the others have none. */
const EMPTIED: Readonly<Record<string, string>> = { tail: '0', replies: '0', seal: 'null' }

/**
 * Ages a store as `fillSqlite` does: the server makes the rows by itself, a batch in each transaction.
 */
export async function fillPostgres(
  admin: pg.Client,
  { schema, ...age }: Age & { readonly schema: string },
  report: (text: string) => void,
): Promise<void> {
  await admin.query(`set search_path to ${schema}`)
  await admin.query('set synchronous_commit to off')
  await admin.query('create table if not exists bench_age (part text primary key, done bigint)')
  const started = Date.now() - 365 * DAY_MS
  const names = await columnsOf(admin, schema)
  const values = names.map((name) => EMPTIED[name] ?? name).join(', ')
  /** Session by session, as in SQLite; the time runs through the year within each. */
  const place = (of: number) => {
    const each = Math.ceil(of / age.sessions)
    const time = `${started} + ((i % ${each}) + 1) * ${364 * DAY_MS} / ${each}`
    return { session: `'old-' || i / ${each}`, number: `i % ${each} + 1`, time }
  }
  const [entry, reply] = [place(age.entries), place(age.replies)]
  const hash = `decode(repeat('00', 32), 'hex')`
  const parts: Record<keyof Age, string> = {
    sessions: `insert into session (id, scope, ${names.join(', ')})
      select 'old-' || i, 'old-' || i, ${values} from one, rows`,
    entries: `insert into entry
      (session, number, kind, operation, fence, at, tokens, meta, body, salt, body_hash, prev_hash, hash)
      select ${entry.session}, ${entry.number},
        (array['input', 'assistant', 'result', 'assistant'])[(${entry.number} - 1) % 4 + 1],
        'o' || i, 1, ${entry.time}, 20, '{}', null, null, ${hash}, ${hash}, ${hash} from rows`,
    replies: `insert into reply
      (session, number, entry, edge, address, key, body, state, attempt, claimant, due_at, at, receipt)
      select ${reply.session}, ${reply.number}, ${reply.number}, 'telegram', ${reply.session}, 'k' || i,
        '{"text":"an old answer"}', 'sent', 1, null, 0, ${reply.time}, 'r' from rows`,
    attempts: `insert into attempt
      (id, session, task, model_route, outcome, input_tokens, output_tokens, at, cached_tokens, cost, host)
      select 'old-' || lpad(i::text, 9, '0'), 'old-' || i % ${age.sessions},
        case when i % 50 = 0 then 'compaction' else 'turn' end, 'anthropic/m@host', 'answered', 9000, 300,
        ${started} + i * ${364 * DAY_MS} / ${age.attempts}, 8000, 5, 'host' from rows`,
  }
  for (const [part, insert] of Object.entries(parts) as [keyof Age, string][]) {
    const { rows } = await admin.query('select done from bench_age where part = $1', [part])
    for (let done = Number(rows[0]?.done ?? 0); done < age[part]; ) {
      const end = Math.min(age[part], done + BATCH)
      await admin.query(`begin;
        with rows as (select generate_series(${done}::bigint, ${end - 1}) as i),
          one as (select * from session where id = 'pattern')
        ${insert};
        insert into bench_age values ('${part}', ${end})
          on conflict (part) do update set done = excluded.done;
        commit`)
      done = end
      report(`${part}: ${end} of ${age[part]}`)
    }
  }
  // As the server itself does after a while: without figures it would plan for empty tables.
  await admin.query('analyze')
}

async function columnsOf(admin: pg.Client, schema: string): Promise<readonly string[]> {
  const { rows } = await admin.query(
    `select column_name as name from information_schema.columns
     where table_schema = $1 and table_name = 'session' and column_name not in ('n', 'id', 'scope')`,
    [schema],
  )
  return rows.map(({ name }) => String(name))
}
