import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { operationId, sessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { type AgentOptions, LIMITS } from './agent-options.ts'
import { HOLD, LOGS } from './far-ends.ts'
import { openPlace, type Place } from './place.ts'
import { bundledProgram, type Program } from './program.ts'
import { agentOf } from './sending-client.ts'

/** Shared compile cache: a killed process would keep nothing that it compiled. */
const COMPILED = join(tmpdir(), 'throughline-compiled')
// A killed process leaves its pages to the kernel, so a RAM disk proves the same.
const MEMORY_DISK = '/dev/shm'

/** Every process that is still running; they are all ended, whatever fails. */
const living = new Set<Life>()
process.once('exit', () => {
  for (const life of living) life.kill()
})

/** The agents of one machine: a folder with a store, and processes that share it. */
export class Host {
  readonly folder: string
  readonly place: Place
  readonly sessions: readonly string[]
  readonly #program: Program
  readonly #lives: Life[] = []

  private constructor(parts: Pick<Host, 'folder' | 'sessions' | 'place'>, program: Program) {
    this.folder = parts.folder
    this.place = parts.place
    this.sessions = parts.sessions
    this.#program = program
  }

  static async make(
    sessions: readonly string[],
    where: 'memory' | 'disk' | Place = 'memory',
  ): Promise<Host> {
    const root = where === 'memory' && existsSync(MEMORY_DISK) ? MEMORY_DISK : tmpdir()
    const folder = mkdtempSync(join(root, 'throughline-agents-'))
    const file: Place = { kind: 'sqlite', path: join(folder, 'store.db') }
    const place = typeof where === 'string' ? file : where
    const host = new Host({ folder, sessions, place }, await bundledProgram())
    for (const file of LOGS) writeFileSync(join(host.folder, file), '')
    await host.using(async (store) => {
      for (const id of sessions) {
        const agent = agentOf(id)
        const outcome = await store.createSession({
          id: sessionId(id),
          agent,
          limits: LIMITS,
          policy: 'steer',
          route: { agent, channel: 'chat', address: id },
          operation: operationId(randomUUID()),
        })
        if (outcome.kind !== 'created') throw new Error(`${id} is ${outcome.kind}`)
      }
    })
    return host
  }

  start(
    options: Omit<AgentOptions, 'folder' | 'place'>,
    { failpoint, mutant }: { readonly failpoint?: string; readonly mutant?: string } = {},
  ): Life {
    mkdirSync(COMPILED, { recursive: true })
    const { NODE_OPTIONS: _, ...env } = process.env
    const isPlanted = failpoint !== undefined || mutant !== undefined
    const told: AgentOptions = { ...options, folder: this.folder, place: this.place }
    const child = spawn(process.execPath, [this.#program.agent, JSON.stringify(told)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        ...env,
        NODE_COMPILE_CACHE: COMPILED,
        CALL_BACK: join(this.folder, 'call-back'),
        ...(isPlanted && { NODE_OPTIONS: `--import=${this.#program.plant}` }),
        ...(failpoint !== undefined && { FAILPOINT: failpoint }),
        ...(this.place.kind === 'sqlite' && { STORE_FILE: this.place.path }),
        ...(mutant !== undefined && { AGENT_MUTANT: mutant }),
      },
    })
    const life = new Life(child)
    this.#lives.push(life)
    return life
  }

  /** Shuts down every agent; returns those that ended in another way, now or before. */
  async end(): Promise<readonly string[]> {
    // Before it is ready, it would not handle the signal.
    await Promise.all(this.#lives.map((life) => life.ready))
    for (const life of this.#lives) if (life.isAlive) life.kill('SIGTERM')
    const ends = await Promise.all(this.#lives.map((life) => life.ended))
    return ends.flatMap(({ code, signal }, index) =>
      code === 0 || signal === 'SIGKILL'
        ? []
        : [`a process ended with ${code ?? signal}: ${this.#lives[index]?.stderr.slice(0, 800)}`],
    )
  }

  /** For the end of a test, even a failed one. */
  async remove(): Promise<void> {
    for (const life of this.#lives) life.kill()
    await Promise.all(this.#lives.map((life) => life.ended))
    rmSync(this.folder, { recursive: true, force: true })
  }

  async using<Value>(work: (store: Store) => Promise<Value>): Promise<Value> {
    const store = await openPlace(this.place, 20_000)
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  }

  /** Waits until its failpoint has stopped it outside a commit, where it would block all others. */
  async untilStopped(life: Life): Promise<void> {
    await until('it is stopped', () => {
      if (!life.isStopped) return false
      if (this.#isFree()) return true
      life.kill('SIGCONT')
      return false
    })
  }

  /** Continues a stopped or blocked process. */
  async callBack(life: Life): Promise<void> {
    writeFileSync(join(this.folder, 'call-back'), '')
    await until('it is back', () => {
      // SIGSTOP may arrive after SIGCONT.
      life.kill('SIGCONT')
      return life.stdout.includes('back\n') || !life.isAlive
    })
  }

  /** Whether the file's write lock is free. */
  #isFree(): boolean {
    if (this.place.kind !== 'sqlite') return true
    const file = new DatabaseSync(this.place.path, { timeout: 500 })
    try {
      file.exec('begin immediate; rollback')
      return true
    } catch {
      return false
    } finally {
      file.close()
    }
  }

  /** From now on handoffs start but do not finish. */
  holdHandoffs(): void {
    writeFileSync(join(this.folder, HOLD), '')
  }

  letHandoffsEnd(): void {
    rmSync(join(this.folder, HOLD))
  }

  /** Senders finish their current message and send no more. */
  askForQuiet(): void {
    writeFileSync(join(this.folder, 'quiet'), '')
  }

  lines(file: (typeof LOGS)[number]): readonly string[] {
    return readFileSync(join(this.folder, file), 'utf8').split('\n').slice(0, -1)
  }
}

/** One process from its start to its end. */
export class Life {
  readonly child: ChildProcess
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
  readonly ready: Promise<void>
  stdout = ''
  stderr = ''

  constructor(child: ChildProcess) {
    this.child = child
    living.add(this)
    child.stdin?.on('error', () => {})
    child.stdout?.on('data', (data) => {
      this.stdout += String(data)
    })
    child.stderr?.on('data', (data) => {
      this.stderr += String(data)
    })
    this.ended = once(child, 'exit').then(([code, signal]) => {
      living.delete(this)
      return { code, signal }
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    child.stdout?.once('data', () => resolve())
    this.ready = Promise.race([promise, this.ended]).then(() => {})
  }

  get isAlive(): boolean {
    return living.has(this)
  }

  /** Stopped by a signal; where /proc is missing, by its own report. */
  get isStopped(): boolean {
    if (process.platform !== 'linux') return this.stdout.includes('stopping\n')
    return /\) T /.test(readFileSync(`/proc/${this.child.pid}/stat`, 'utf8'))
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.child.kill(signal)
  }
}

/** Waits until the test passes; if it never does, the error says what was awaited. */
export async function until(
  what: string,
  test: () => boolean | Promise<boolean>,
  { withinMs = 60_000, everyMs = 25 } = {},
): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await test())) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

/** Nothing is waiting, running or in flight. */
export async function isAtRest(store: Store): Promise<boolean> {
  for (const row of await store.listSessions({ state: 'open', limit: 1_000 })) {
    const { control, user, notification } = row.pending
    if (control + user + notification > 0 || row.turnState === 'running') return false
    if (row.operation !== null || (row.by === 'digest' && row.rewrites < 3)) return false
  }
  return (await store.listReplies({ state: 'waiting', limit: 1 })).length === 0
}
