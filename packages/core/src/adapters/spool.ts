import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../base/files/make-folder.ts'
import type { JsonObject } from '../base/json.ts'

/** Between two attempts to deliver what waits. */
const RETRY_MS = 1_000
/** A store that hangs counts as failing. The Claude Agent SDK gives up after 60 seconds. */
const DELIVER_MS_MAX = 10_000

/**
 * Hands values to `deliver`, in order. While that fails they wait as files in a folder, also for the next
 * process, so `deliver` must take a value twice without harm.
 */
export class Spool {
  readonly #folder: string
  readonly #deliver: (value: JsonObject) => Promise<void>
  readonly #onError: (error: unknown) => void
  /** Names sort in the order of this process's values, whatever its clock does meanwhile. */
  readonly #prefix = `${String(Date.now()).padStart(15, '0')}-${crypto.randomUUID().slice(0, 8)}`
  #written = 0
  /** Until the folder was read there may be files of an earlier process. */
  #hasFiles = true
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    folder: string,
    deliver: (value: JsonObject) => Promise<void>,
    onError: (error: unknown) => void,
  ) {
    makeFolder(folder)
    this.#folder = folder
    this.#deliver = deliver
    this.#onError = onError
    this.#retry()
  }

  /** Resolves when the value was delivered or is safe on the disk, and never rejects. */
  put(value: JsonObject): Promise<void> {
    return this.#oneAtATime(async () => {
      for (;;) {
        if (!this.#hasFiles && (await this.#attempt(() => this.#deliverInTime(value)))) return
        if (await this.#attempt(() => this.#write(value))) return
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
        await this.#attempt(() => this.#deliverFiles())
      }
    })
  }

  /** Resolves when nothing waits any more; rejects if something cannot be delivered. */
  drain(): Promise<void> {
    return this.#oneAtATime(() => this.#deliverFiles())
  }

  #retry(): void {
    void this.#oneAtATime(async () => {
      if (await this.#attempt(() => this.#deliverFiles())) return
      setTimeout(() => this.#retry(), RETRY_MS).unref()
    })
  }

  async #deliverFiles(): Promise<void> {
    if (!this.#hasFiles) return
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.json'))
    for (const name of names.toSorted()) {
      const path = join(this.#folder, name)
      const text = await readFile(path, 'utf8').catch(noneIfMissing)
      // Another process has delivered it.
      if (text === null) continue
      await this.#deliverInTime(JSON.parse(text) as JsonObject)
      await rm(path, { force: true })
    }
    this.#hasFiles = false
  }

  async #deliverInTime(value: JsonObject): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => reject(new Error(`The store did not answer within ${DELIVER_MS_MAX} ms.`)),
      DELIVER_MS_MAX,
    )
    await Promise.race([this.#deliver(value), promise]).finally(() => clearTimeout(timer))
  }

  async #write(value: JsonObject): Promise<void> {
    const name = `${this.#prefix}-${String(this.#written++).padStart(9, '0')}`
    const draft = join(this.#folder, `${name}.new`)
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(JSON.stringify(value))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, join(this.#folder, `${name}.json`))
    await syncFolder(this.#folder)
    if (!this.#hasFiles) setTimeout(() => this.#retry(), RETRY_MS).unref()
    this.#hasFiles = true
  }

  async #attempt(act: () => Promise<void>): Promise<boolean> {
    try {
      await act()
      return true
    } catch (error) {
      try {
        this.#onError(error)
      } catch {
        // A fault of the program's own handler must not cost it entries.
      }
      return false
    }
  }

  #oneAtATime<Value>(act: () => Promise<Value>): Promise<Value> {
    const next = this.#last.then(act)
    this.#last = next.catch(() => {})
    return next
  }
}

function noneIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

/** The new name survives a power failure too. Windows cannot sync a folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
