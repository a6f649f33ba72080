import { realpathSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isInside } from '#core/base/files/inside'
import { isOfNpx, shellPath } from './shell-path.ts'

export interface ProgramLocation {
  /** The folder of this program's package; in a clone `packages/server`. */
  readonly packageFolder: string
  readonly workingFolder: string
  /** `npx` has started this process. */
  readonly isOfNpx?: boolean
}

/**
 * How to call this program from the working folder, for hints that can be pasted: `npx throughline`
 * in a clone or a project that depends on it, `throughline` if it is installed globally or linked
 * (`npm link`), otherwise the path of its file.
 */
export function commandForm(
  { packageFolder, workingFolder, isOfNpx = false }: ProgramLocation,
  path?: string,
): string {
  const [project, installed] = projectOf(packageFolder)
  if (installed && project.includes(`${sep}_npx${sep}`)) return 'npx throughline'
  if (isInside(workingFolder, project)) return 'npx throughline'
  const anywhere = installed ? 'throughline' : commandAnywhere({ packageFolder }, path)
  // npx also looks in npm's own folder, which need not be on the path.
  return anywhere !== 'throughline' && isOfNpx ? 'npx throughline' : anywhere
}

/**
 * How another program can call this one from any folder. `npm run` puts the commands of its project
 * on the path for one run, so those do not count.
 */
export function commandAnywhere(
  { packageFolder }: Pick<ProgramLocation, 'packageFolder'>,
  path = shellPath(process.env),
): string {
  const folders = path.split(delimiter).filter((folder) => !folder.endsWith(LOCAL_COMMANDS))
  if (folders.some((folder) => leadsTo(join(folder, 'throughline'), packageFolder))) {
    return 'throughline'
  }
  if (packageFolder.includes(`${sep}_npx${sep}`)) return 'npx -y throughline'
  return `node ${shellWord(join(packageFolder, 'bin', 'throughline.js'))}`
}

const LOCAL_COMMANDS = join('node_modules', '.bin')

function leadsTo(file: string, folder: string): boolean {
  try {
    return isInside(realpathSync(file), realpathSync(folder))
  } catch {
    return false
  }
}

export function programLocation(): ProgramLocation {
  const packageFolder = fileURLToPath(new URL('../..', import.meta.url))
  return {
    packageFolder: packageFolder.endsWith(sep) ? packageFolder.slice(0, -1) : packageFolder,
    workingFolder: process.cwd(),
    isOfNpx: isOfNpx(process.env),
  }
}

/** The project that a package folder is installed in, or the clone that it is part of. */
function projectOf(folder: string): [project: string, installed: boolean] {
  const at = folder.lastIndexOf(`${sep}node_modules${sep}`)
  return at < 0 ? [join(folder, '..', '..'), false] : [folder.slice(0, at), true]
}

/** Quotes a word for a shell. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
