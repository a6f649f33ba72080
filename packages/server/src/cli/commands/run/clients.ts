import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createFile } from '#core/base/files/write'
import { isObject, type JsonObject } from '#core/base/json'

/**
 * How each client is pointed at the proxy. Only the base URL is set, for this run only; no file of
 * the client changes.
 */
export interface ClientLaunch {
  readonly name: string
  /** Further providers in the client's own settings; the proxy forwards to them. */
  readonly upstreams: ReadonlyMap<string, URL>
  point(url: string, launch: string): ClientStart
  /** The command that lets the client search what was recorded. */
  recall(command: string): string | null
  /** The arguments with which it opens one of its conversations again; absent: not known. */
  readonly resume?: (session: string) => readonly string[]
}

/** What a client is started with beside the user's own arguments and environment. */
export interface ClientStart {
  readonly env: { readonly [name: string]: string }
  /** Inserted before the user's arguments. */
  readonly args: readonly string[]
  /** Made for this run, and removed after it. */
  readonly folder?: string
}

export interface ClientEnvironment {
  readonly env: NodeJS.ProcessEnv
  readonly folder: string
}

export function findClient(command: string, around: ClientEnvironment): ClientLaunch {
  const name = basename(command).replace(/\.(?:exe|cmd|c?js)$/, '')
  switch (name) {
    case 'claude':
      return claude()
    case 'codex':
      return codex(around)
    case 'opencode':
      return opencode(around)
    case 'pi':
      return pi(around)
    case 'aider':
      return plain('aider', (url) => ({
        ANTHROPIC_API_BASE: url,
        OPENAI_API_BASE: `${url}/v1`,
      }))
    default:
      return plain('agent', baseUrlVariables)
  }
}

const NONE: ReadonlyMap<string, URL> = new Map()

function claude(): ClientLaunch {
  return {
    ...{ name: 'claude', upstreams: NONE },
    point: (url) => ({ env: { ANTHROPIC_BASE_URL: url }, args: [] }),
    recall: (command) => `claude mcp add throughline -- ${command}`,
    resume: (session) => ['--resume', session],
  }
}

/** The names by which SDKs and programs know them. */
export function baseUrlVariables(url: string): { [name: string]: string } {
  return {
    ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_BASE: url },
    ...{ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_BASE: `${url}/v1` },
  }
}

/** Programs that do not name their conversation are recognized by the address `/l/<launch>`. */
function plain(name: string, env: (url: string) => { [name: string]: string }): ClientLaunch {
  return {
    ...{ name, upstreams: NONE },
    point: (url, launch) => ({ env: env(`${url}/l/${launch}`), args: [] }),
    recall: () => null,
  }
}

function codex({ env }: ClientEnvironment): ClientLaunch {
  const home = env['CODEX_HOME'] || join(homeOf(env), '.codex')
  const provider = readCodexProvider(join(home, 'config.toml'))
  return {
    name: 'codex',
    upstreams: provider === null ? NONE : new Map([[provider.name, provider.url]]),
    point: (url) => ({
      env: {},
      args:
        provider === null
          ? ['-c', `openai_base_url="${url}/v1"`]
          : ['-c', `model_providers.${provider.name}.base_url="${url}/p/${provider.name}"`],
    }),
    recall: (command) => `codex mcp add throughline -- ${command}`,
    resume: (session) => ['resume', session],
  }
}

/** The provider that the configuration chooses, if it has an address of its own. */
export function readCodexProvider(path: string): { name: string; url: URL } | null {
  const lines = readLines(path)
  const value = (line: string) => /=\s*["']([^"']{1,500})["']/.exec(line)?.[1]
  const first = lines.findIndex((line) => line.trimStart().startsWith('['))
  const top = first === -1 ? lines : lines.slice(0, first)
  const chosen = top.find((line) => /^\s*model_provider\s*=/.test(line))
  const name = chosen === undefined ? undefined : value(chosen)
  if (name === undefined || !/^[\w-]{1,64}$/.test(name)) return null
  const section = lines.findIndex((line) => line.trim() === `[model_providers.${name}]`)
  if (section === -1) return null
  for (const line of lines.slice(section + 1)) {
    if (line.trimStart().startsWith('[')) return null
    if (!/^\s*base_url\s*=/.test(line)) continue
    const url = addressIn(value(line))
    return url === null ? null : { name, url }
  }
  return null
}

function opencode({ env, folder }: ClientEnvironment): ClientLaunch {
  const config = env['XDG_CONFIG_HOME'] || join(homeOf(env), '.config')
  const files = [join(config, 'opencode/opencode.json'), join(folder, 'opencode.json')]
  const addresses: [string, unknown][] = []
  for (const file of files) {
    for (const [name, settings] of Object.entries(objectAt(readJson(file), 'provider'))) {
      const options = isObject(settings) ? objectAt(settings, 'options') : {}
      addresses.push([name, options['baseURL']])
    }
  }
  const { upstreams, isOther } = sortAddresses(addresses)
  return {
    ...{ name: 'opencode', upstreams },
    point: (url) => {
      const options = (baseURL: string) => ({ options: { baseURL } })
      const provider = {
        anthropic: options(`${url}/v1`),
        openai: options(`${url}/v1`),
        ...Object.fromEntries([...upstreams.keys()].map((id) => [id, options(`${url}/p/${id}`)])),
      }
      const content = JSON.stringify({ provider: without(provider, isOther) })
      return { env: { OPENCODE_CONFIG_CONTENT: content }, args: [] }
    },
    recall: () => null,
    resume: (session) => ['--session', session],
  }
}

function pi({ env }: ClientEnvironment): ClientLaunch {
  const agent = env['PI_CODING_AGENT_DIR'] || join(homeOf(env), '.pi/agent')
  const providers = objectAt(readJson(join(agent, 'models.json')), 'providers')
  const { upstreams, isOther } = sortAddresses(
    Object.entries(providers).map(([name, settings]) => [
      name,
      isObject(settings) ? settings['baseUrl'] : undefined,
    ]),
  )
  return {
    ...{ name: 'pi', upstreams },
    point: (url, launch) => {
      const base = `${url}/l/${launch}`
      const addresses = {
        anthropic: base,
        openai: `${base}/v1`,
        ...Object.fromEntries([...upstreams.keys()].map((id) => [id, `${base}/p/${id}`])),
      }
      const usable = Object.entries(without(addresses, isOther))
      return startPiWith(new Map(usable.map(([id, baseUrl]) => [id, { baseUrl }])))
    },
    recall: () => null,
  }
}

/** pi takes providers from an extension. */
export function startPiWith(providers: ReadonlyMap<string, JsonObject>): ClientStart {
  const lines = [...providers].map(
    ([id, settings]) => `  pi.registerProvider(${JSON.stringify(id)}, ${JSON.stringify(settings)})`,
  )
  const folder = mkdtempSync(join(tmpdir(), 'throughline-pi-'))
  const file = join(folder, 'base-url.ts')
  createFile(file, `export default (pi) => {\n${lines.join('\n')}\n}\n`)
  return { env: {}, args: ['--extension', file], folder }
}

function homeOf(env: NodeJS.ProcessEnv): string {
  return env['HOME'] || homedir()
}

/** Of providers, the later one of a name wins. */
function sortAddresses(addresses: readonly (readonly [name: string, address: unknown])[]): {
  readonly upstreams: ReadonlyMap<string, URL>
  /** It has an address that we cannot read, such as the name of a variable: the client uses that. */
  readonly isOther: (name: string) => boolean
} {
  const known = new Map(addresses.filter(([, address]) => typeof address === 'string'))
  const upstreams = new Map<string, URL>()
  for (const [name, address] of known) {
    const url = addressIn(address)
    if (url !== null && isName(name)) upstreams.set(name, url)
  }
  return { upstreams, isOther: (name) => known.has(name) && !upstreams.has(name) }
}

function without<Value>(
  values: { readonly [name: string]: Value },
  isLeftOut: (name: string) => boolean,
): { readonly [name: string]: Value } {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !isLeftOut(name)))
}

function addressIn(value: unknown): URL | null {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && /^https?:$/.test(url.protocol) ? url : null
}

function isName(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text)
}

function readLines(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
}

function readJson(path: string): JsonObject {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(value) ? value : {}
  } catch {
    // The file is missing, or the client will report what is wrong with it.
    return {}
  }
}

function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name]
  return isObject(value) ? value : {}
}
