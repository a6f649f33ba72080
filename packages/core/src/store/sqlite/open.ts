import { resolve } from 'node:path'
import { sweepDrafts } from '../../base/files/drafts.ts'
import type { RunnerId } from '../../base/ids.ts'
import { checkKeys, checkText, invalidOption } from '../../base/option-checks.ts'
import type { CommitVerb, OutcomeOf, ReadVerb, RequestOf, Store } from '../contract.ts'
import { InvalidBodyError, StoreBusyError, StoreClosedError } from '../errors.ts'
import { type AnswerOf, type Engine, type QueryOf, storeOver } from '../facade.ts'
import { withAnchor } from '../integrity/anchor.ts'
import { DEPTH_MAX } from '../integrity/canonical.ts'
import { anchorOf, prepareFile, recordOf, resolveFile } from './store-file.ts'
import { newStoreNumber, type StoreThread, storeThread } from './worker/threads.ts'
import { removeWakeFile, WakeFile } from './worker/wake.ts'
import type { WriterOptions } from './worker/writer.ts'

export interface SqliteOptions {
  readonly path: string
  /** Default: the database's name with `.anchor`. Best placed on another disk. */
  readonly anchorPath?: string
  readonly busyMs?: number
  /** The maximum age of the anchor; 0 writes it with every commit. */
  readonly anchorMs?: number
  /** How often to look for other processes' commits; wake files usually report them sooner. */
  readonly pollMs?: number
}

const BUSY_MS = 5_000
const ANCHOR_MS = 1_000
const POLL_MS = 250
/** How many commits may wait in this process before more are refused (I24). */
const WAITING_MAX = 10_000

/**
 * Opens or creates a store in one SQLite file. Rejects if the file, the drive, the library or the
 * schema must not be written to. A damaged store opens, answers reads and refuses commits.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  checkKeys(options, ['path', 'anchorPath', 'busyMs', 'anchorMs', 'pollMs'])
  checkText('path', options.path)
  if (options.path === ':memory:') {
    throw invalidOption(
      'path',
      'A store in ":memory:" would be a file of that name. Call openMemoryStore() instead.',
    )
  }
  const path = resolveFile(options.path)
  prepareFile(path)
  const anchorPath = options.anchorPath ?? anchorOf(path)
  for (const file of [anchorPath, recordOf(path)]) sweepDrafts(file)
  const engine = new SqliteEngine({
    path,
    anchorPath,
    busyMs: options.busyMs ?? BUSY_MS,
    anchorMs: options.anchorMs ?? ANCHOR_MS,
    pollMs: options.pollMs ?? POLL_MS,
  })
  await engine.open()
  return withAnchor(storeOver(engine), anchorPath, recordOf(path))
}

type Role = 'writer' | 'reader'

class SqliteEngine implements Engine {
  readonly #options: WriterOptions & { readonly pollMs: number }
  readonly #store = newStoreNumber()
  readonly #threads = new Map<Role, Promise<StoreThread>>()
  readonly #listeners = new Set<() => void>()
  readonly #wakeFiles = new Map<RunnerId, WakeFile>()
  #closing: Promise<void> | undefined

  constructor(options: WriterOptions & { readonly pollMs: number }) {
    this.#options = options
  }

  /** Opens the writer first, because it creates the file. */
  async open(): Promise<void> {
    try {
      await this.#thread('writer')
      await this.#thread('reader')
    } catch (error) {
      await this.close()
      throw error
    }
  }

  /** A thread that died, for example of lack of memory, is restarted by the next call. */
  async #thread(role: Role): Promise<StoreThread> {
    const present = this.#threads.get(role)
    if (present !== undefined) {
      const thread = await present
      if (!thread.ended) return thread
      this.#checkOpen(role)
    }
    if (this.#threads.get(role) === present) {
      const starting = this.#start(role)
      this.#threads.set(role, starting)
      starting.catch(() => this.#threads.delete(role))
    }
    return await (this.#threads.get(role) ?? this.#thread(role))
  }

  async #start(role: Role): Promise<StoreThread> {
    const { pollMs, ...options } = this.#options
    const thread = storeThread(role)
    if (role === 'writer') {
      thread.onChange(this.#store, () => this.#tell())
      await thread.call(this.#store, 'open', { kind: 'open-writer', options, pollMs })
    } else {
      await thread.call(this.#store, 'open', { kind: 'open-reader', path: options.path })
    }
    return thread
  }

  async commit<Verb extends CommitVerb>(
    verb: Verb,
    request: RequestOf<Verb>,
  ): Promise<OutcomeOf<Verb>> {
    this.#checkOpen(verb)
    const writer = await this.#thread('writer')
    if (writer.waiting >= WAITING_MAX) {
      throw new StoreBusyError({ waitedMs: 0, problem: `${WAITING_MAX} commits already wait` })
    }
    const order = { kind: 'commit', verb, request, size: measure(request) } as const
    const outcome = (await writer.call(this.#store, verb, order)) as OutcomeOf<Verb>
    this.#listen(verb, request, outcome)
    // A claim that found no reply has changed nothing.
    if (outcome.kind !== 'none' && verb !== 'renew') this.#tell()
    return outcome
  }

  async read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): Promise<AnswerOf<Verb>> {
    this.#checkOpen(verb)
    const order = { kind: 'read', verb, query } as const
    const reader = await this.#thread('reader')
    return (await reader.call(this.#store, verb, order)) as AnswerOf<Verb>
  }

  async backup(to: string): Promise<void> {
    this.#checkOpen('backup')
    const writer = await this.#thread('writer')
    await writer.call(this.#store, 'backup', { kind: 'refuse-if-damaged' })
    const reader = await this.#thread('reader')
    await reader.call(this.#store, 'backup', { kind: 'backup', to: resolve(to) })
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    // Wakes those that wait for a change: their next read fails, because the store is closed.
    this.#tell()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const file of this.#wakeFiles.values()) file.close()
    const started = await Promise.allSettled([
      this.#threads.get('reader'),
      this.#threads.get('writer'),
    ])
    for (const each of started) {
      const thread = each.status === 'fulfilled' ? each.value : undefined
      thread?.forget(this.#store)
      if (thread?.ended === false) await thread.call(this.#store, 'close', { kind: 'close' })
    }
  }

  /** Watches the wake files of runners that were registered through this store. */
  #listen(verb: CommitVerb, request: unknown, outcome: { readonly kind: string }): void {
    const { path } = this.#options
    if (verb === 'registerRunner' && outcome.kind === 'done') {
      const { id } = request as RequestOf<'registerRunner'>
      this.#wakeFiles.set(id, new WakeFile(path, id, () => this.#tell()))
    } else if (verb === 'retireRunner') {
      // A lost runner too: its process continues under another id.
      const { runner } = request as RequestOf<'retireRunner'>
      this.#wakeFiles.get(runner)?.close()
      this.#wakeFiles.delete(runner)
    } else if (verb === 'dismissRunner' && outcome.kind === 'done') {
      const { runner } = request as RequestOf<'dismissRunner'>
      removeWakeFile(path, runner)
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) queueMicrotask(listener)
  }

  #checkOpen(verb: string): void {
    if (this.#closing !== undefined) throw new StoreClosedError({ verb })
  }
}

/**
 * About how many bytes a request will write, to bound a batch. Refuses requests that are nested too
 * deep to be sent to the writer's thread.
 */
function measure(request: object): number {
  let size = 0
  let level: object[] = [request]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_MAX + REQUEST_DEPTH) {
      throw new InvalidBodyError({ problem: `is nested deeper than ${DEPTH_MAX} levels` })
    }
    const next: object[] = []
    for (const item of level.flatMap((each) => Object.values(each) as unknown[])) {
      if (typeof item === 'string' || item instanceof Uint8Array) size += item.length
      else if (typeof item === 'object' && item !== null) next.push(item)
      else size += 8
    }
    level = next
  }
  return size
}
/** How many levels a request adds around its bodies. */
const REQUEST_DEPTH = 8
