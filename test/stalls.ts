import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { seededRandom } from './support/seeded-random.ts'

/**
 * `npm run test:stalls -- [--seed N] [--rounds N] WORD…`: runs test files on a machine that stalls. At
 * random moments it stops every process of the run for two seconds, or one of them, and lets them go
 * on. A test that fails here and passes elsewhere waits for a time where it should wait for a condition.
 * Linux only.
 */
const STALL_MS = 2_000
const BETWEEN_MS_MAX = 3_000

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, rounds: { type: 'string', default: '1' } },
  allowPositionals: true,
})
const random = seededRandom(Number(values.seed))
// Inherited, also by a process that leaves its group and its parent.
const marked = { name: 'THROUGHLINE_TEST_STALLS', value: randomUUID() }
const root = join(import.meta.dirname, '..')
let failedRounds = 0
for (let round = 1; round <= Number(values.rounds); round++) {
  const { exitCode, stalls } = await runOnce()
  if (exitCode !== 0) failedRounds++
  console.log(`round ${round}: ${exitCode === 0 ? 'passed' : 'failed'}, ${stalls} stalls`)
}
process.exitCode = failedRounds === 0 ? 0 : 1

async function runOnce(): Promise<{ exitCode: number; stalls: number }> {
  const child = spawn(process.execPath, [vitest(), 'run', '--reporter=dot', ...positionals], {
    cwd: root,
    env: { ...process.env, [marked.name]: marked.value },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const ended = new AbortController()
  const { promise, resolve } = Promise.withResolvers<number>()
  child.on('exit', (code) => {
    ended.abort()
    resolve(code ?? 1)
  })
  const stalls = await stallUntil(ended.signal)
  return { exitCode: await promise, stalls }
}

async function stallUntil(signal: AbortSignal): Promise<number> {
  for (let stalls = 0; ; stalls++) {
    await sleep(random() * BETWEEN_MS_MAX, undefined, { signal }).catch(() => {})
    if (signal.aborted) return stalls
    const running = listRunning()
    const one = running[Math.floor(random() * running.length)]
    const chosen = random() < 0.5 || one === undefined ? running : [one]
    for (const pid of chosen) send(pid, 'SIGSTOP')
    await sleep(STALL_MS)
    for (const pid of chosen) send(pid, 'SIGCONT')
  }
}

/** The processes of the run and those they started, without those that a test has stopped itself. */
function listRunning(): number[] {
  const all = readdirSync('/proc').flatMap((name) => readProcess(Number(name)) ?? [])
  const members = new Set(all.filter(({ isMarked }) => isMarked).map(({ pid }) => pid))
  for (let before = 0; before < members.size; ) {
    before = members.size
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid)
  }
  return all.filter(({ pid, state }) => members.has(pid) && state !== 'T').map(({ pid }) => pid)
}

function readProcess(pid: number) {
  if (!(pid > 0) || pid === process.pid) return null
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const isMarked = environment.includes(`${marked.name}=${marked.value}`)
    return { pid, parent: Number(fields[1]), state: fields[0], isMarked }
  } catch {
    return null
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}

function vitest(): string {
  return join(root, 'node_modules', 'vitest', 'vitest.mjs')
}
