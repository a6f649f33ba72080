import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** npm puts folders of its own before PATH for one run. The last of them is always this one. */
const LAST_OF_NPM = join('@npmcli', 'run-script', 'lib', 'node-gyp-bin')

/**
 * The PATH of the shell that called `npx`. A script of `npm run` keeps the PATH that it got: its
 * author may mean the commands of the project.
 */
export function shellPath(env: NodeJS.ProcessEnv): string {
  const path = env['PATH'] ?? ''
  if (!isOfNpx(env)) return path
  const folders = path.split(delimiter)
  const last = folders.findIndex((folder) => folder.endsWith(LAST_OF_NPM))
  return folders.slice(last + 1).join(delimiter)
}

/** Whether `npx` has started this process. */
export function isOfNpx(env: NodeJS.ProcessEnv): boolean {
  return env['npm_lifecycle_event'] === 'npx'
}

/** Whether a shell with this PATH finds the command. */
export function isInPath(command: string, path: string): boolean {
  return path.split(delimiter).some((folder) => isExecutable(join(folder || '.', command)))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
