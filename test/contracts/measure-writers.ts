import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { create, LIMITS } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'

/** How many admissions per second, how late, and how fairly, with several processes on one file. */
const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '13' },
    senders: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '0' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'throughline-measure-'))
const path = join(folder, 'store.db')
const store = await openSqliteStore({ path })
const limits = { ...LIMITS, laneMailMax: 10_000_000, sourceMailMax: 10_000_000 }
const ids = Array.from({ length: Number(values.processes) }, (_, index) => sessionId(`s${index}`))
for (const id of ids) await create(store, { id, limits })

const script = join(import.meta.dirname, 'children', 'load.ts')
const children = ids.map((id) => {
  const child = spawn(
    process.execPath,
    [script, path, id, values.senders, values.seconds, values.rate],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  let printed = ''
  child.stdout.on('data', (data) => {
    printed += String(data)
  })
  return {
    child,
    ready: once(child.stdout, 'data'),
    ended: once(child, 'exit'),
    text: () => printed,
  }
})
await Promise.all(children.map(({ ready }) => ready))
for (const { child } of children) child.stdin.write('go\n')
await Promise.all(children.map(({ ended }) => ended))

const perProcess = children.map(({ text }) =>
  (text().split('\n')[1] ?? '').split(' ').filter(Boolean).map(Number),
)
const all = perProcess.flat().sort((a, b) => a - b)
const counts = perProcess.map((list) => list.length)
const mean = all.length / counts.length
const at = (share: number) => (all[Math.floor(share * (all.length - 1))] ?? 0).toFixed(1)
console.log(
  `${values.processes} processes x ${values.senders} senders: ${Math.round(all.length / Number(values.seconds))} admits/s,`,
  `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms,`,
  `slowest process ${Math.round((100 * Math.min(...counts)) / mean)}% of the mean,`,
  `WAL ${(statSync(`${path}-wal`).size / 1e6).toFixed(1)} MB`,
)
await store.close()
rmSync(folder, { recursive: true, force: true })
