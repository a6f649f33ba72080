import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { KnownError } from '#core/base/errors'
import { readPlainFile } from '#core/base/files/read'
import { isObject, type JsonValue } from '#core/base/json'

/**
 * The source of an API key. It is read when first needed, kept in memory only, and reloaded once
 * when a provider refuses it, because logins expire within days and another program renews them.
 */
export type CredentialSource =
  | { readonly kind: 'none' }
  | { readonly kind: 'variable'; readonly name: string }
  /** `field` walks into a JSON file: `tokens.access_token`. */
  | { readonly kind: 'file'; readonly path: string; readonly field?: string | undefined }
  /** The trimmed standard output of the command, which runs in `folder`. */
  | {
      readonly kind: 'command'
      readonly command: string
      readonly folder?: string | undefined
    }

export class CredentialError extends KnownError {
  override readonly name = 'CredentialError'
  readonly code = 'credential-missing'
  readonly retryable = false
}

const COMMAND_MS_MAX = 30_000
const BYTES_MAX = 256 * 1024

export class Credentials {
  readonly #environment: Environment
  readonly #values = new Map<string, Promise<string>>()

  /** The caller passes the environment: only the outermost folders read it. */
  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Rejects with `CredentialError`, which names the source and never its content. */
  async read(source: CredentialSource): Promise<string> {
    const key = JSON.stringify(source)
    const known = this.#values.get(key)
    if (known !== undefined) return await known
    const value = this.#fetch(source)
    this.#values.set(key, value)
    // The next call reads a failed source again.
    value.catch(() => this.#values.delete(key))
    return await value
  }

  /**
   * Returns whether the value differs from the refused one; reads the source again, unless an
   * earlier refused call has done so. Never rejects.
   */
  async renew(source: CredentialSource, refused: string | undefined): Promise<boolean> {
    const key = JSON.stringify(source)
    const held = this.#values.get(key)
    const known = await held?.catch(() => undefined)
    if (known !== undefined && known !== refused) return true
    if (this.#values.get(key) === held) this.#values.delete(key)
    const now = await this.read(source).catch(() => undefined)
    return now !== undefined && now !== refused
  }

  async #fetch(source: CredentialSource): Promise<string> {
    const value = await this.#find(source)
    if (UNSENDABLE.test(value)) {
      throw new CredentialError(
        `The ${source.kind} should hold a key alone, on one line; a key inside a JSON file needs \`field\`.`,
      )
    }
    return value
  }

  async #find(source: CredentialSource): Promise<string> {
    switch (source.kind) {
      case 'none':
        return ''
      case 'variable': {
        const value = this.#environment[source.name]?.trim()
        if (value) return value
        throw new CredentialError(
          `The environment variable ${source.name} should hold a key and is empty.`,
        )
      }
      case 'file':
        return await readKeyFile(source)
      case 'command':
        return await runKeyCommand(source)
    }
  }
}

/** Characters that a header cannot contain. */
const UNSENDABLE = /[^\t\x20-\x7e]/

export type Environment = { readonly [name: string]: string | undefined }

async function readKeyFile({ path, field }: Extract<CredentialSource, { kind: 'file' }>) {
  const file = path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
  const text = await readPlainFile(file, BYTES_MAX).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new CredentialError(`The file ${path} should hold a key and cannot be read (${code}).`)
  })
  if (text === null) throw new CredentialError(`${path} should be a file that holds a key alone.`)
  const value = field === undefined ? text.trim() : fieldOf(text, field)
  if (value === undefined || value === '') {
    const what = field === undefined ? 'a key' : `a key at ${field}`
    throw new CredentialError(`The file ${path} should hold ${what} and does not.`)
  }
  return value
}

function fieldOf(text: string, field: string): string | undefined {
  let value: JsonValue | undefined
  try {
    value = JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
  for (const name of field.split('.')) value = isObject(value) ? value[name] : undefined
  return typeof value === 'string' ? value.trim() : undefined
}

function runKeyCommand({
  command,
  folder,
}: Extract<CredentialSource, { kind: 'command' }>): Promise<string> {
  const isWindows = process.platform === 'win32'
  const [shell, flag] = isWindows ? ['cmd.exe', '/c'] : ['/bin/sh', '-c']
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const options = {
    ...{ timeout: COMMAND_MS_MAX, maxBuffer: BYTES_MAX, killSignal: 'SIGKILL' as const },
    ...(folder !== undefined && { cwd: folder }),
  }
  execFile(shell, [flag, command], options, (error, stdout) => {
    const value = stdout.trim()
    if (error === null && value !== '') return resolve(value)
    // Its output may be part of a secret, so only its exit status is reported.
    const end = error === null ? 'wrote nothing' : `failed (${error.code ?? error.signal})`
    reject(new CredentialError(`The command for the key ${end}; run it by hand to see why.`))
  })
  return promise
}
