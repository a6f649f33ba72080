import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownEnvironment } from './claude.ts'
import { type ClientName, installed } from './install.ts'
import { PROGRAM } from './proxy-child.ts'

export interface Ran {
  readonly code: number | null
  readonly output: string
}

/** A client as a person starts it: `throughline run -- NAME …`, with a home of its own. */
export async function runThroughline(
  name: ClientName,
  {
    home,
    store,
    args,
    env = {},
    more = [],
  }: {
    readonly home: string
    readonly store: string
    readonly args: readonly string[]
    readonly env?: NodeJS.ProcessEnv
    readonly more?: readonly string[]
  },
): Promise<Ran> {
  const bin = join(home, 'bin')
  const work = join(home, 'work')
  mkdirSync(bin, { recursive: true })
  mkdirSync(work, { recursive: true })
  const file = installed(name)
  const starts = name === 'opencode' ? `"${file}"` : `"${process.execPath}" "${file}"`
  writeFileSync(join(bin, name), `#!/bin/sh\nexec ${starts} "$@"\n`, { mode: 0o755 })
  const own = ownEnvironment(home)
  const child = spawn(
    process.execPath,
    [PROGRAM, 'run', '--store', store, ...more, '--', name, ...args],
    {
      cwd: work,
      env: { ...own, XDG_STATE_HOME: join(home, 'state'), ...env, PATH: `${bin}:${own['PATH']}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let output = ''
  const take = (data: Buffer) => {
    output = (output + data.toString()).slice(-20_000)
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  const { promise, resolve } = Promise.withResolvers<Ran>()
  child.once('exit', (code) => resolve({ code, output }))
  return await promise
}

export function configureOpencode(home: string, url: string): void {
  mkdirSync(join(home, 'work'), { recursive: true })
  const models = { 'stand-in': { name: 'stand-in', tool_call: true } }
  const provider = {
    local: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${url}/v1`, apiKey: 'drill' },
      models,
    },
  }
  const settings = { model: 'local/stand-in', provider, permission: { bash: 'allow' } }
  writeFileSync(join(home, 'work/opencode.json'), JSON.stringify(settings))
}

export function configurePi(home: string, url: string): void {
  const agent = join(home, '.pi/agent')
  mkdirSync(agent, { recursive: true })
  const models = [{ id: 'stand-in', input: ['text'], reasoning: true, contextWindow: 200_000 }]
  const provider = (api: string, baseUrl: string) => ({ api, baseUrl, apiKey: 'drill', models })
  const providers = {
    messages: provider('anthropic-messages', url),
    responses: provider('openai-responses', `${url}/v1`),
  }
  writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers }))
}
