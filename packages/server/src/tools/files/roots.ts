import { realpathSync, type Stats, statSync } from 'node:fs'
import { type FileHandle, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { KnownError } from '#core/base/errors'
import { isInside } from '#core/base/files/inside'
import { openedPath, openToRead } from './opened-path.ts'

export class MissingRootError extends KnownError {
  override readonly name = 'MissingRootError'
  readonly code = 'missing-root'
  readonly retryable = false
  readonly facts: { readonly root: string }

  constructor(facts: MissingRootError['facts'], cause: unknown) {
    super(
      `The files tool may read ${facts.root}, but there is no such folder. Make or remove it.`,
      {
        cause,
      },
    )
    this.facts = facts
  }
}

function realRoot(root: string): string {
  try {
    return realpathSync(root)
  } catch (error) {
    throw new MissingRootError({ root }, error)
  }
}

/** The readable files: these folders and everything that is really below them, without private paths. */
export class Roots {
  readonly #roots: readonly string[]
  readonly #privatePaths: readonly string[]

  /**
   * Each root must exist; a relative path is resolved in the first. `privatePaths`: files and folders of
   * the server itself. A path covers what is below it and the files whose names begin with it
   * (`store.db-wal`).
   */
  constructor(roots: readonly string[], privatePaths: readonly string[] = []) {
    this.#roots = roots.map(realRoot)
    this.#privatePaths = privatePaths
  }

  get paths(): readonly string[] {
    return this.#roots
  }

  async open(path: string): Promise<Opened> {
    const [first] = this.#roots
    if (first === undefined) return { kind: 'outside' }
    if (path.includes('\0')) return { kind: 'missing' }
    const wanted = resolve(first, path)
    // A path outside is refused before the disk is touched.
    if (!this.#holds(wanted)) return { kind: 'outside' }
    let handle: FileHandle
    try {
      // Before it is opened: closing any descriptor of a database drops SQLite's locks on it.
      if (await this.#leadsToPrivate(wanted)) return { kind: 'private' }
      handle = await openToRead(wanted)
    } catch (error) {
      return problemOf(error)
    }
    try {
      const real = await openedPath(handle, wanted)
      const isInRoots = real !== null && this.#holds(real)
      // Once more: the path may have led elsewhere when it was checked.
      const isPrivate = isInRoots && this.#isPrivate(real, await handle.stat())
      if (isInRoots && !isPrivate) return { kind: 'opened', handle, path: real }
      await handle.close()
      return { kind: isPrivate ? 'private' : 'outside' }
    } catch (error) {
      await handle.close()
      return problemOf(error)
    }
  }

  async #leadsToPrivate(wanted: string): Promise<boolean> {
    if (this.#privatePaths.length === 0) return false
    const real = await realpath(wanted)
    return this.#isPrivate(real, await stat(real))
  }

  #isPrivate(real: string, { dev, ino }: Stats): boolean {
    return this.#privatePaths.some((path) => {
      const kept = realOf(path)
      if (isInside(real, kept)) return true
      if (real.startsWith(`${kept}-`) || real.startsWith(`${kept}.`)) return true
      // A hard link has another name.
      const found = statSync(kept, { throwIfNoEntry: false })
      return found?.dev === dev && found.ino === ino
    })
  }

  #holds(path: string): boolean {
    return this.#roots.some((root) => isInside(path, root))
  }
}

/** The file may not exist yet, but its folder may be a link. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const folder = dirname(path)
    return folder === path ? path : join(realOf(folder), basename(path))
  }
}

export type Opened =
  | { readonly kind: 'opened'; readonly handle: FileHandle; readonly path: string }
  | { readonly kind: 'outside' }
  | { readonly kind: 'private' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly code: string }

const MISSING: readonly string[] = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']

function problemOf(error: unknown): Opened {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return MISSING.includes(code) ? { kind: 'missing' } : { kind: 'refused', code }
}
