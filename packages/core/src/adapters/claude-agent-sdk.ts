/** `@throughline/core/adapters/claude-agent-sdk`: a `SessionStore` of `@anthropic-ai/claude-agent-sdk` (0.3). */
import type { DurableJournal } from '../agent/journal.ts'
import type { JsonObject } from '../base/json.ts'
import { checkFunction, checkKeys, checkText } from '../base/option-checks.ts'
import { sha256Hex } from '../base/sha256.ts'
import { Spool } from './spool.ts'

/** `SessionKey` of the SDK. Its types are written out here, because the package takes 400 MB. */
export interface ClaudeSessionKey {
  projectKey: string
  sessionId: string
  /** The transcript of a sub-agent; without it, that of the session. */
  subpath?: string
}

/** `SessionStoreEntry` of the SDK: one line of a transcript. */
export interface ClaudeSessionEntry {
  type: string
  uuid?: string
  timestamp?: string
  [field: string]: unknown
}

/** `SessionStore` of the SDK. */
export interface ClaudeSessionStore {
  append(key: ClaudeSessionKey, entries: ClaudeSessionEntry[]): Promise<void>
  load(key: ClaudeSessionKey): Promise<ClaudeSessionEntry[] | null>
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>
  delete(key: ClaudeSessionKey): Promise<void>
}

export interface ClaudeSessionStoreOptions {
  /** A folder on this machine's disk: entries wait in it while the journal's store cannot take them. */
  readonly spool: string
  /** Is called with each failed attempt, because the SDK never learns of it. */
  readonly onError?: (error: unknown) => void
}

/** Entries that were appended together, as they wait in the spool. */
interface Batch {
  readonly id: string
  readonly key: ClaudeSessionKey
  readonly at: number
  /** JSON of the entries: it can be cut anywhere, and can hold what a body of a store may not. */
  readonly text: string
}

/** A part of a batch, or the mark behind which the transcript of a sub-agent begins again. */
interface Item {
  readonly at: number
  readonly subpath?: string
  readonly batch?: string
  readonly text?: string
  readonly isLast?: boolean
}

/** With everything escaped, the text of an item stays far below what a store takes at once. */
const TEXT_MAX = 4 * 1024 * 1024

/**
 * For `sessionStore` of `query`. The SDK drops entries after three rejections; this store never rejects
 * them: entries that the journal cannot take wait in the spool, in order, also for the next process.
 *
 * ```ts
 * const sessionStore = claudeSessionStore(journal, { spool: '/var/lib/support/spool' })
 * query({ prompt, options: { sessionStore, sessionStoreFlush: 'eager' } })
 * ```
 */
export function claudeSessionStore(
  journal: DurableJournal,
  options: ClaudeSessionStoreOptions,
): ClaudeSessionStore {
  checkKeys(options, ['spool', 'onError'])
  const { spool: folder, onError = () => {} } = options
  checkText('spool', folder)
  checkFunction('onError', onError)
  const sessionsOf = (projectKey: string) => journal.list(`claude ${short(projectKey)}`, 'sessions')
  const conversationOf = ({ projectKey, sessionId }: ClaudeSessionKey) =>
    `claude ${short(projectKey)} ${sessionId}`
  const transcriptOf = (key: ClaudeSessionKey) => journal.list(conversationOf(key), 'transcript')
  const listed = new Set<string>()

  const deliver = async (value: JsonObject) => {
    const { id, key, at, text } = value as unknown as Batch
    const { projectKey, sessionId, subpath } = key
    if (!listed.has(conversationOf(key))) {
      await sessionsOf(projectKey).change({ operation: sessionId, add: [sessionId] })
      listed.add(conversationOf(key))
    }
    const parts = partsOf(text)
    for (const [number, part] of parts.entries()) {
      const isLast = number === parts.length - 1
      const item = { at, ...(subpath !== undefined && { subpath }), batch: id, text: part, isLast }
      await transcriptOf(key).change({ operation: `${id} ${number}`, add: [item] })
    }
  }
  const spool = new Spool(folder, deliver, onError)

  const read = async (key: ClaudeSessionKey) => {
    await spool.drain()
    return (await transcriptOf(key).read()) as unknown as readonly Item[]
  }
  return {
    async append(key, entries) {
      if (entries.length === 0) return
      const text = JSON.stringify(entries)
      await spool.put({ id: crypto.randomUUID(), key: { ...key }, at: Date.now(), text })
    },
    async load(key) {
      const entries = entriesIn(await read(key), key.subpath)
      return entries.length === 0 ? null : entries
    },
    async listSessions(projectKey) {
      await spool.drain()
      const ids = (await sessionsOf(projectKey).read()) as readonly string[]
      const found = ids.map(async (sessionId) => {
        const items = await read({ projectKey, sessionId })
        const last = items.findLast(({ subpath }) => subpath === undefined)
        return last === undefined ? [] : [{ sessionId, mtime: last.at }]
      })
      return (await Promise.all(found)).flat()
    },
    async listSubkeys(key) {
      const items = await read(key)
      const subpaths = new Set(items.flatMap(({ subpath }) => subpath ?? []))
      return [...subpaths].filter((subpath) => entriesIn(items, subpath).length > 0)
    },
    async delete(key) {
      await spool.drain()
      const { subpath } = key
      if (subpath === undefined) await journal.delete(conversationOf(key))
      else await transcriptOf(key).change({ add: [{ at: Date.now(), subpath }] })
    },
  }
}

/** The entries of one transcript, in order; of a repeated uuid the first. */
function entriesIn(items: readonly Item[], subpath: string | undefined): ClaudeSessionEntry[] {
  const parts = new Map<string, string>()
  const entries = new Map<unknown, ClaudeSessionEntry>()
  for (const item of items.filter((each) => each.subpath === subpath)) {
    const { batch, text = '', isLast } = item
    if (batch === undefined) {
      entries.clear()
      continue
    }
    const whole = (parts.get(batch) ?? '') + text
    parts.set(batch, whole)
    if (isLast !== true) continue
    for (const entry of JSON.parse(whole) as ClaudeSessionEntry[]) {
      // Entries without a uuid, such as titles, may come again.
      const name = entry.uuid ?? entries.size
      if (!entries.has(name)) entries.set(name, entry)
    }
  }
  return [...entries.values()]
}

/** Never between the two halves of a character, which a store refuses. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  for (let from = 0; from < text.length; ) {
    const end = Math.min(from + TEXT_MAX, text.length)
    const part = text.slice(from, end).isWellFormed() ? end : end - 1
    parts.push(text.slice(from, part))
    from = part
  }
  return parts
}

/** Names of a journal have at most 200 characters, and a project may be a path of any length. */
function short(projectKey: string): string {
  return projectKey.length <= 100 ? projectKey : sha256Hex(projectKey)
}
