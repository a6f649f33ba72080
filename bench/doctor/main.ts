import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Diagnosis } from '../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import type { RepairReport } from '../../packages/server/src/migration/hermes/repair/report.ts'
import {
  type ImportReport,
  unaccounted,
} from '../../packages/server/src/migration/import-report.ts'

/**
 * `npm run bench:doctor [-- ROWS [CONVERSATIONS]]`: doctor, import and repair of a made Hermes store,
 * as a ratio to reading every column of the same file once. Each is the command that people run, in a
 * process of its own, and its largest memory is what the system says.
 */
const PEAK_MB_MAX = 300
const [rows = 100_000, conversations = 1] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'throughline-bench-doctor-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const program = join(import.meta.dirname, '../../packages/server/bin/throughline.js')
const peakFile = join(folder, 'peak.json')
/** Not a file of ours: its types would have to be removed, which takes more memory than it should see. */
const WITNESS = `data:text/javascript,${encodeURIComponent(
  `import { writeFileSync } from 'node:fs'
   process.once('exit', () => {
     const peakMb = process.resourceUsage().maxRSS / 1_024
     const seconds = performance.now() / 1_000
     writeFileSync(${JSON.stringify(peakFile)}, JSON.stringify({ seconds, peakMb }))
   })`,
)}`

// Whoever moves a home has looked at it first: what is started once starts from compiled sources.
const small = makeStore('small.db', 10, 1)
for (const run of ['first', 'again']) {
  throughline('doctor', 'hermes', small, '--json')
  throughline('import', 'hermes', small, '--store', join(folder, `${run}.db`), '--json')
  throughline('doctor', 'hermes', small, '--repair-to', join(folder, `${run}-small.db`), '--json')
}

const path = makeStore('state.db', rows, conversations)
const scan = measure([join(import.meta.dirname, 'scan.ts'), path])
tell('scan', scan, scan.stdout)
const store = ['--store', join(folder, 'throughline.db')]

const examined = throughline('doctor', 'hermes', path, '--json')
const { profiles } = JSON.parse(examined.stdout) as Diagnosis
tell('doctor', examined, `${profiles.flatMap(({ findings }) => findings).length} findings.`)

for (const stage of ['import', 'import again']) {
  const brought = throughline('import', 'hermes', path, ...store, '--json')
  const report = JSON.parse(brought.stdout) as ImportReport
  for (const profile of report.profiles) {
    const count = `${profile.rows.brought} brought, ${unaccounted(profile.rows)} unaccounted for.`
    tell(stage, brought, count)
  }
}

const repaired = throughline('doctor', 'hermes', path, '--repair-to', `${path}.repaired`, '--json')
const { changes } = JSON.parse(repaired.stdout) as RepairReport
tell('repair', repaired, `${changes.length} changes.`)

interface Measured {
  readonly seconds: number
  readonly peakMb: number
  readonly stdout: string
}

function throughline(...words: readonly string[]): Measured {
  return measure([program, ...words])
}

function measure(words: readonly string[]): Measured {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', WITNESS, ...words], {
    encoding: 'utf8',
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(stderr || stdout)
  return { ...(JSON.parse(readFileSync(peakFile, 'utf8')) as Omit<Measured, 'stdout'>), stdout }
}

function tell(name: string, { seconds, peakMb }: Measured, told: string): void {
  const isMet = peakMb <= PEAK_MB_MAX
  if (!isMet) process.exitCode = 1
  console.log(
    `${isMet ? 'met ' : 'MISS'}  ${name}: ${seconds.toFixed(2)} s, ` +
      `${(seconds / scan.seconds).toFixed(1)} x scan, ${Math.round(rows / seconds)} rows/s, ` +
      `peak ${Math.round(peakMb)} MB. ${told.trim()}`,
  )
}

function makeStore(name: string, count: number, sessions: number): string {
  const file = join(folder, name)
  const database = new DatabaseSync(file)
  database.exec(`pragma journal_mode = off; pragma synchronous = off; begin;
    create table schema_version (version integer not null);
    insert into schema_version values (26);
    create table sessions (id text primary key, source text not null, parent_session_id text,
      started_at real not null, ended_at real, end_reason text, model_config text);
    create table messages (id integer primary key autoincrement, session_id text not null,
      role text not null, content text, tool_call_id text, tool_calls text, timestamp real not null,
      active integer not null default 1, compacted integer not null default 0)`)
  const session = database.prepare('insert into sessions (id, source, started_at) values (?, ?, ?)')
  for (let index = 0; index < sessions; index++) session.run(`s${index}`, 'telegram', 1_000)
  const insert = database.prepare(
    'insert into messages (session_id, role, content, timestamp) values (?, ?, ?, ?)',
  )
  const text = 'the deployment of service number %, with its log and what was said about it. '
  for (let index = 0; index < count; index++) {
    const content = text.replace('%', String(index)).repeat(1 + (index % 10))
    const role = index % 2 === 0 ? 'user' : 'assistant'
    insert.run(`s${index % sessions}`, role, content, 1_001 + index)
  }
  database.exec('commit')
  database.close()
  return file
}
