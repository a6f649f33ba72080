/** The packages as others get them, for tests and drills. */
import { spawnSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')
export const bin = join(root, 'node_modules', '.bin')

/** Packing briefly rewrites package.json, which must not be visible in the shared clone. */
export function copyClone(clone: string): void {
  const isKept = (path: string) => !/[\\/](?:node_modules|dist|page)$/.test(path)
  for (const path of ['packages', 'examples', 'package.json', 'tsconfig.json', 'LICENSE'])
    cpSync(join(root, path), join(clone, path), { recursive: true, filter: isKept })
  for (const path of ['README.md', 'CHANGELOG.md']) cpSync(join(root, path), join(clone, path))
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
}

/** Puts the tarball of a workspace into a folder. */
export function pack(name: string, clone: string, folder: string): void {
  run('npm', ['pack', '--silent', '-w', name, '--pack-destination', folder], clone)
}

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
export function run(command: string, args: readonly string[], cwd: string): string {
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` }
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
  return stdout
}
