import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { TOKEN } from '../../test/gateways/bot-api-server.ts'
import { PROGRAM } from '../../test/support/run-cli.ts'
import type { Probed } from './probe.ts'

const PROBE = join(import.meta.dirname, 'probe.ts')
/** Small, so that each session is compacted every few dozen messages. */
const WINDOW_TOKENS = 12_000

export interface Peers {
  readonly modelUrl: string
  readonly chatUrl: string
  /** Who may write to the bot. */
  readonly people: readonly number[]
}

export interface Served extends Probed {
  readonly descriptors: number
  /** Resident memory that is no file: without the program's own code, which is read in as it is used. */
  readonly anonymousBytes: number
  readonly allocatorBytes: number
}

/** `throughline serve` on a folder that outlives it, with the probe inside. */
export class SoakServer {
  readonly url: string
  readonly #folder: string
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  static async start(folder: string, peers: Peers): Promise<SoakServer> {
    // JSON is YAML.
    writeFileSync(join(folder, 'throughline.yaml'), JSON.stringify(configOf(peers), null, 2))
    const log = openSync(join(folder, 'serve.log'), 'a')
    const nodeArgs = ['--expose-gc', '--import', PROBE]
    const child = spawn(process.execPath, [...nodeArgs, PROGRAM, 'serve', '--json'], {
      cwd: folder,
      env: {
        ...{ PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: join(folder, 'state') },
        TELEGRAM_BOT_TOKEN: TOKEN,
      },
      stdio: ['ignore', 'pipe', log, 'ipc'],
      // Ctrl-C in a terminal reaches the soak alone, which ends the server after the last answers.
      detached: true,
    })
    closeSync(log)
    const ended = once(child, 'close')
    if (child.stdout === null) throw new Error('The server has no output to read.')
    const line = once(createInterface(child.stdout), 'line') as Promise<string[]>
    const failed = ended.then(() => Promise.reject(new Error(`It ended; see ${folder}/serve.log.`)))
    const [text = ''] = await Promise.race([line, failed])
    void failed.catch(() => {})
    return new SoakServer(folder, child, ended, (JSON.parse(text) as { url: string }).url)
  }

  private constructor(folder: string, child: ChildProcess, ended: Promise<unknown>, url: string) {
    this.#folder = folder
    this.#child = child
    this.#ended = ended
    this.url = url
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async probe(): Promise<Served> {
    const heard = once(this.#child, 'message') as Promise<[Probed]>
    this.#child.send('probe')
    const [probed] = await heard
    const proc = `/proc/${this.#child.pid}`
    const smaps = readFileSync(`${proc}/smaps`, 'utf8')
    return {
      ...probed,
      descriptors: readdirSync(`${proc}/fd`).length,
      anonymousBytes: anonymousBytes(smaps),
      allocatorBytes: allocatorBytes(smaps),
    }
  }

  /** Bytes of the files in its folder; names that differ in digits and ids alone count together. */
  fileBytes(): Readonly<Record<string, number>> {
    const bytes: Record<string, number> = {}
    for (const entry of readdirSync(this.#folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      const name = path.slice(this.#folder.length + 1).replace(/[\da-f-]{8,}|\d+/g, '*')
      bytes[name] = (bytes[name] ?? 0) + (statSync(path, { throwIfNoEntry: false })?.size ?? 0)
    }
    return bytes
  }

  async end(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#ended
  }
}

function anonymousBytes(smaps: string): number {
  const lines = smaps.matchAll(/^Anonymous: +(\d+) kB$/gm)
  return lines.reduce((sum, [, kilobytes]) => sum + 1_024 * Number(kilobytes), 0)
}

const MAPPING = /^([0-9a-f]+)-[0-9a-f]+ rw\S* \S+ \S+ \d+ *(.*)\n(?:.*\n)*?Rss: +(\d+) kB$/gm
/** Where glibc starts the arena of a thread. */
const ARENA_BYTES = 64 * 2 ** 20

/**
 * Resident memory of the C allocator: its heap and the arenas of threads, gaps included. SQLite keeps its
 * pages there.
 */
function allocatorBytes(smaps: string): number {
  const owned = [...smaps.matchAll(MAPPING)].filter(([, start = '', name]) => {
    return name === '[heap]' || (name === '' && Number.parseInt(start, 16) % ARENA_BYTES === 0)
  })
  return owned.reduce((sum, [, , , kilobytes]) => sum + 1_024 * Number(kilobytes), 0)
}

function configOf({ modelUrl, chatUrl, people }: Peers) {
  const model = {
    provider: 'openai-chat',
    baseUrl: `${modelUrl}/v1`,
    credential: { kind: 'none' },
    model: 'stand-in',
    windowTokens: WINDOW_TOKENS,
  }
  return {
    agents: { main: { model } },
    store: 'store.db',
    http: { port: 0 },
    gateways: { telegram: { apiRoot: chatUrl, allow: { users: people } } },
  }
}
