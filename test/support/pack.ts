/** The packages as others get them, for tests and drills. */
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import manifest from '../../packages/server/package.json' with { type: 'json' }

const { version } = manifest

export const root = join(import.meta.dirname, '..', '..')
export const bin = join(root, 'node_modules', '.bin')

/** Packing briefly rewrites package.json, which must not be visible in the shared clone. */
export function copyClone(clone: string): void {
  const isKept = (path: string) => !/[\\/](?:node_modules|dist|server[\\/]page)$/.test(path)
  const parts = ['packages', 'examples', 'package.json', 'tsconfig.json', 'biome.json', 'LICENSE']
  for (const path of parts)
    cpSync(join(root, path), join(clone, path), { recursive: true, filter: isKept })
  for (const path of ['README.md', 'CHANGELOG.md']) cpSync(join(root, path), join(clone, path))
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
}

/** Puts the tarball of a workspace into a folder. */
export function pack(
  name: string,
  clone: string,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): void {
  run('npm', ['pack', '--silent', '-w', name, '--pack-destination', folder], clone, env)
}

/** Both packages from a clone of their own inside the folder. */
export function packBoth(folder: string): {
  readonly clone: string
  readonly core: string
  readonly server: string
} {
  const clone = join(folder, 'clone')
  copyClone(clone)
  pack('throughline', clone, folder)
  // With the server, which is checked against its declarations.
  pack('@throughline/core', clone, folder, { THROUGHLINE_IS_BUILT: '1' })
  return {
    clone,
    core: join(folder, `throughline-core-${version}.tgz`),
    server: join(folder, `throughline-${version}.tgz`),
  }
}

/** How a package is installed here: without a word, and from npm's cache where it is there. */
export const INSTALL = [
  ...['install', '--silent', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'],
]

/** The importable subpaths, without patterns. */
export function subpathsOf({
  name,
  exports,
}: {
  readonly name: string
  readonly exports: object
}): readonly string[] {
  return Object.keys(exports)
    .filter((path) => path !== './package.json' && !path.includes('*'))
    .map((path) => path.replace('.', name))
}

/** Returns the command's output. If it fails, throws with everything it printed. */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`, ...more }
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
  return stdout
}

/** What the README's agent takes for granted: a model. */
export const MODEL = `
async function askModel(request: { readonly messages: readonly unknown[] }, signal: AbortSignal) {
  if (signal.aborted || request.messages.length === 0) throw new Error('nothing to ask')
  return { role: 'assistant' as const, content: 'It rains.' }
}
`

/** The first example in TypeScript of a document. */
export function exampleIn(path: string): string {
  const text = readFileSync(join(root, path), 'utf8')
  const example = /^```ts\n([^`]*)```$/m.exec(text)?.[1]
  if (example === undefined) throw new Error(`${path} has no example in TypeScript`)
  return example
}
