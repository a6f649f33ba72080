import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, statSync, writeFileSync } from 'node:fs'
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

  async probe(): Promise<Probed & { readonly descriptors: number }> {
    const heard = once(this.#child, 'message') as Promise<[Probed]>
    this.#child.send('probe')
    const [probed] = await heard
    return { ...probed, descriptors: readdirSync(`/proc/${this.#child.pid}/fd`).length }
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
