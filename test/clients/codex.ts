import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownEnvironment } from './claude.ts'
import { installed } from './install.ts'

export const CODEX_KEY = 'sk-codex-drill-0123456789abcdef'

/**
 * `providerName`: one named OpenAI is asked for compactions. `model`: with its own default, Codex sends
 * its tools as an item.
 */
export function configureCodex(
  home: string,
  url: string,
  {
    providerName = 'local',
    model = 'gpt-5.1-codex',
    more = [],
  }: { providerName?: string; model?: string | null; more?: readonly string[] } = {},
): void {
  mkdirSync(join(home, '.codex'), { recursive: true })
  mkdirSync(join(home, 'work'), { recursive: true })
  const settings = [
    ...(model === null ? [] : [`model = "${model}"`]),
    ...['model_provider = "local"', 'check_for_update_on_startup = false'],
    ...more,
    ...['[analytics]', 'enabled = false', '[model_providers.local]', `name = "${providerName}"`],
    ...[`base_url = "${url}/v1"`, 'wire_api = "responses"', 'env_key = "DRILL_KEY"'],
  ]
  writeFileSync(join(home, '.codex/config.toml'), settings.join('\n'))
}

export interface CodexResult {
  readonly code: number | null
  readonly output: string
}

/** One turn of the real Codex. */
export function runCodex(home: string, args: readonly string[]): Promise<CodexResult> {
  const { promise, resolve } = Promise.withResolvers<CodexResult>()
  const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
  const [first = '', ...rest] = args
  const words =
    first === 'resume'
      ? ['exec', 'resume', '--last', ...flags, ...rest]
      : ['exec', ...flags, ...args]
  const env = { ...ownEnvironment(home), DRILL_KEY: CODEX_KEY }
  const child = spawn(process.execPath, [installed('codex'), ...words], {
    ...{ cwd: join(home, 'work'), env, stdio: ['ignore', 'pipe', 'pipe'] },
  })
  let output = ''
  const take = (data: Buffer) => {
    output = (output + data.toString()).slice(-20_000)
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  child.once('exit', (code) => resolve({ code, output }))
  return promise
}
