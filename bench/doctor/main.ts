import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * `npm run bench:doctor [-- ROWS [CONVERSATIONS]]`: doctor, import and repair of a made Hermes store,
 * as a ratio to reading every column of the same file once. Each is run as the command that people
 * run, in a process of its own, and its largest memory is what the system says.
 */
const [rows = 100_000, conversations = 1] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'throughline-bench-doctor-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'state.db')
const stage = join(import.meta.dirname, 'stage.ts')
makeStore()

const scan = run('scan')
const store = join(folder, 'throughline.db')
run('doctor')
run('import', store)
run('import', store)
run('repair', join(folder, 'repaired.db'))

function run(name: string, ...words: readonly string[]): { readonly seconds: number } {
  const { stdout, stderr, status } = spawnSync(process.execPath, [stage, name, path, ...words], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(stderr)
  const told = JSON.parse(stdout) as { seconds: number; peakMb: number; told: string }
  const base = name === 'scan' ? told.seconds : scan.seconds
  const rate = Math.round(rows / told.seconds)
  console.log(
    `${name}: ${told.seconds.toFixed(2)} s, ${(told.seconds / base).toFixed(1)} x scan, ` +
      `${rate} rows/s, peak ${Math.round(told.peakMb)} MB. ${told.told}`,
  )
  return told
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
