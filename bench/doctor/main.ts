import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { diagnoseHermes } from '../../src/doctor/hermes/diagnose.ts'
import { importHermes } from '../../src/doctor/import/hermes.ts'
import { unaccounted } from '../../src/doctor/import/report.ts'
import { limitsFor } from '../../src/runtime/limits.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'

/**
 * `npm run bench:doctor [-- ROWS [CONVERSATIONS]]`: doctor and import of a made Hermes store, as a
 * ratio to reading every column of the same file once.
 */
const [rows = 100_000, conversations = 1] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'throughline-bench-doctor-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'state.db')
makeStore()

let peakMb = 0
const watch = setInterval(() => {
  peakMb = Math.max(peakMb, process.memoryUsage().rss / 1024 / 1024)
}, 50)

const scanned = timed(() => {
  const database = new DatabaseSync(path, { readOnly: true })
  let bytes = 0
  for (const row of database.prepare('select * from messages').iterate()) {
    bytes += String(row['content']).length
  }
  database.close()
  return bytes
})
console.log(`scan: ${scanned.seconds.toFixed(2)} s, ${Math.round(rows / scanned.seconds)} rows/s`)

await told('doctor', () => diagnoseHermes(path))
const store = await openSqliteStore({ path: join(folder, 'throughline.db') })
const bring = () =>
  importHermes({
    ...{ path, agent: 'bench', withMemories: false, host: { boot: 'bench', process: 1 } },
    limits: limitsFor({ windowTokens: 200_000, fixedTokens: 0 }),
    target: { isDryRun: false, store },
  })
const report = await told('import', bring)
await told('import again', bring)
for (const { rows: count } of report.profiles) {
  console.log(`rows ${count.in}, brought ${count.brought}, unaccounted for ${unaccounted(count)}`)
}
await store.close()
clearInterval(watch)

async function told<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
  peakMb = 0
  const begunAt = performance.now()
  const value = await work()
  const seconds = (performance.now() - begunAt) / 1_000
  const ratio = (seconds / scanned.seconds).toFixed(1)
  console.log(`${name}: ${seconds.toFixed(2)} s, ${ratio} x scan, peak ${Math.round(peakMb)} MB`)
  return value
}

function timed<Value>(work: () => Value): { readonly seconds: number; readonly value: Value } {
  const begunAt = performance.now()
  const value = work()
  return { seconds: (performance.now() - begunAt) / 1_000, value }
}

function makeStore(): void {
  const database = new DatabaseSync(path)
  database.exec(`pragma journal_mode = off; pragma synchronous = off; begin;
    create table schema_version (version integer not null);
    insert into schema_version values (26);
    create table sessions (id text primary key, source text not null, parent_session_id text,
      started_at real not null, ended_at real, end_reason text, model_config text);
    create table messages (id integer primary key autoincrement, session_id text not null,
      role text not null, content text, tool_call_id text, tool_calls text, timestamp real not null,
      active integer not null default 1, compacted integer not null default 0)`)
  const session = database.prepare('insert into sessions (id, source, started_at) values (?, ?, ?)')
  for (let index = 0; index < conversations; index++) session.run(`s${index}`, 'telegram', 1_000)
  const insert = database.prepare(
    'insert into messages (session_id, role, content, timestamp) values (?, ?, ?, ?)',
  )
  const text = 'the deployment of service number %, with its log and what was said about it. '
  for (let index = 0; index < rows; index++) {
    const content = text.replace('%', String(index)).repeat(1 + (index % 10))
    const role = index % 2 === 0 ? 'user' : 'assistant'
    insert.run(`s${index % conversations}`, role, content, 1_001 + index)
  }
  database.exec('commit')
  database.close()
}
