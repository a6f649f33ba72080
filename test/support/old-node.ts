import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A Node in the PATH that is too old for the command, and runs it with the Node of `npm ci`. */
export function findOldNode(): string | undefined {
  if (!existsSync('/proc/self/task')) return undefined
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .filter((path) => existsSync(path))
    .find((path) => {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8' })
      return Number.parseInt(version.slice(1), 10) < 24
    })
}
