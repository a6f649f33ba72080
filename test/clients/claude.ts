import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { installed } from './install.ts'

/** An environment without anything of this machine, whose programs reach the loopback only. */
export function ownEnvironment(home: string): NodeJS.ProcessEnv {
  return {
    ...{ PATH: process.env['PATH'] ?? '', HOME: home, TZ: 'UTC', LANG: 'C.UTF-8' },
    // Nothing listens on the port "discard".
    ...{ HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' },
    NO_PROXY: '127.0.0.1',
  }
}

export const CLAUDE_KEY = 'sk-ant-drill-0123456789abcdef'

export function claudeEnvironment(home: string, url: string): NodeJS.ProcessEnv {
  return {
    ...ownEnvironment(home),
    ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: CLAUDE_KEY, IS_SANDBOX: '1' },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
  }
}

/** The real Claude Code, one process, many turns. */
export class Claude {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #waiting: ((result: ClaudeResult) => void)[] = []
  output = ''

  constructor(home: string, url: string, args: readonly string[], model = 'claude-sonnet-4-5') {
    const folder = join(home, 'work')
    mkdirSync(folder, { recursive: true })
    const flags = [
      ...['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
      ...['--model', model, '--dangerously-skip-permissions', ...args],
    ]
    this.#child = spawn(process.execPath, [installed('claude'), ...flags], {
      ...{ cwd: folder, env: claudeEnvironment(home, url) },
    })
    this.#child.stderr.on('data', (data: Buffer) => {
      this.output += data.toString()
    })
    this.#child.stdin.on('error', () => {})
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(line))
    this.#child.once('exit', (code) => {
      for (const hear of this.#waiting.splice(0))
        hear({ isError: true, text: `ended with ${code}` })
    })
  }

  say(text: string): Promise<ClaudeResult> {
    const { promise, resolve } = Promise.withResolvers<ClaudeResult>()
    this.#waiting.push(resolve)
    const message = { role: 'user', content: [{ type: 'text', text }] }
    this.#child.stdin.write(`${JSON.stringify({ type: 'user', message })}\n`)
    return promise
  }

  /** As Esc does in the terminal. */
  interrupt(): void {
    const request = { subtype: 'interrupt' }
    const line = { type: 'control_request', request_id: 'interrupt', request }
    this.#child.stdin.write(`${JSON.stringify(line)}\n`)
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.stdin.end()
    await ended
  }

  #hear(line: string): void {
    if (!line.includes('"type":"result"')) return
    const { is_error: isError, result } = JSON.parse(line) as { is_error: boolean; result?: string }
    this.#waiting.shift()?.({ isError, text: result ?? '' })
  }
}

export interface ClaudeResult {
  readonly isError: boolean
  readonly text: string
}
