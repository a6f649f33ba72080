import { realpathSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { KnownError } from '#core/base/errors'
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

/** The readable files: these folders and everything that is really below them. */
export class Roots {
  readonly #roots: readonly string[]

  /** Each must exist; a relative path is resolved in the first. */
  constructor(roots: readonly string[]) {
    this.#roots = roots.map(realRoot)
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
      handle = await openToRead(wanted)
    } catch (error) {
      return problemOf(error)
    }
    try {
      const real = await openedPath(handle, wanted)
      if (real !== null && this.#holds(real)) return { kind: 'opened', handle, path: real }
    } catch (error) {
      await handle.close()
      return problemOf(error)
    }
    await handle.close()
    return { kind: 'outside' }
  }

  #holds(path: string): boolean {
    return this.#roots.some((root) => {
      const way = relative(root, path)
      return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
    })
  }
}

export type Opened =
  | { readonly kind: 'opened'; readonly handle: FileHandle; readonly path: string }
  | { readonly kind: 'outside' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly code: string }

const MISSING: readonly string[] = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']

function problemOf(error: unknown): Opened {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return MISSING.includes(code) ? { kind: 'missing' } : { kind: 'refused', code }
}
