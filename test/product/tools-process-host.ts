import { systemClock } from '../../packages/core/src/base/clock.ts'
import { StoreFixture } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { Processes } from '../../packages/server/src/tools/process/processes.ts'

/** A runtime that starts a program with a child of its own and one that leaves its group, tells their ids, and waits to be killed. */
const [path = ''] = process.argv.slice(2)
const store = await openSqliteStore({ path })
const { id: sessionId } = await StoreFixture.open(store)
const processes = new Processes({ store, clock: systemClock, countTokens: () => 1 })
const script = `
  const { spawn } = require('node:child_process')
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const stray = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
  console.log('left ' + stray.pid)
  console.log('ids ' + process.pid + ' ' + child.pid + ' .')
  setInterval(() => {}, 1000)
`
const call = { sessionId, agent: 'ada', turn: 1, entry: 1, key: 'k' }
const started = await processes.start(call, {
  program: process.execPath,
  args: ['-e', script],
  folder: import.meta.dirname,
  env: {},
  watch: [],
  timeMs: 30_000,
  reportsEnd: true,
})
if (started.kind === 'refused') throw new Error(started.problem)
const { output } = started.job.child
const timer = setInterval(() => {
  const { text } = output.read(0, 1_000)
  if (!text.includes(' .')) return
  clearInterval(timer)
  process.stdout.write(text)
}, 20)
