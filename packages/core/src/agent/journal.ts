/** `@throughline/core/journal`: what a program that keeps its own loop must not forget or do twice. */
import { type EntryNumber, operationId, type SessionId, sessionId } from '../base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../base/json.ts'
import { checkKeys, checkText, invalidOption, show } from '../base/option-checks.ts'
import { Recent } from '../base/recent.ts'
import { sha256Hex } from '../base/sha256.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import { readRange } from '../session/context/source.ts'
import { eraseDeleted } from '../session/erase-session.ts'
import { limitsFor } from '../session/limits.ts'
import type { Store } from '../store/contract.ts'
import { InvalidBodyError } from '../store/errors.ts'
import { canonicalJson } from '../store/integrity/canonical.ts'
import { parseBody } from '../store/integrity/damaged-row.ts'
import type { RecordOutcome } from '../store/record-commits.ts'
import { checkId } from './agent-settings.ts'
import { type DurableRun, durableRun } from './durable-run.ts'

/**
 * Lists and calls of conversations, kept as records in sessions of a store: hash-chained, in its
 * backups and exports, erased with `delete`. Any number of processes may share one.
 */
export interface DurableJournal {
  /** One turn of a framework in a conversation. Run again under its key, it continues where it stopped. */
  run(conversation: string, key: string): DurableRun
  /** The items of a conversation under a name. */
  list(conversation: string, name: string): JournalList
  /** Erases everything of a conversation. It may begin again afterwards. */
  delete(conversation: string): Promise<void>
}

export interface JournalList {
  /** Oldest first. */
  read(): Promise<readonly JsonValue[]>
  change(change: ListChange): Promise<ListOutcome>
}

export interface ListChange {
  /** Makes a repeat harmless. The same operation with another change is a conflict. */
  readonly operation?: string
  /** The list must end with these items; they are replaced by `add`. */
  readonly expects?: readonly JsonValue[]
  /** Replaces all items. */
  readonly clear?: boolean
  readonly add: readonly JsonValue[]
}
export type ListOutcome = 'changed' | 'operation-conflict' | 'suffix-mismatch'

export interface OpenJournalOptions {
  /** An open store. Closing it stays yours. */
  readonly store: Store
  /** Whose conversations these are: the name of the program. */
  readonly name: string
}

/**
 * Opens a journal on a store.
 *
 * ```ts
 * const journal = openJournal({ store, name: 'support' })
 * const run = journal.run(conversationId, messageId)
 * ```
 */
export function openJournal(options: OpenJournalOptions): DurableJournal {
  checkKeys(options, ['store', 'name'])
  const { store, name } = options
  if (typeof store?.recordEntries !== 'function') {
    throw invalidOption('store', `"store" is ${show(store)}, not an open store.`)
  }
  checkId('name', name)
  const open = new Recent<string, Conversation>(OPEN_MAX)
  const conversation = (id: string) => {
    checkName('conversation', id)
    const known = open.get(id) ?? new Conversation(store, name, id)
    open.set(id, known)
    return known
  }
  return {
    run(id, key) {
      checkName('key', key)
      return durableRun(conversation(id), key)
    },
    list(id, list) {
      const found = conversation(id)
      checkName('list', list)
      return {
        read: () => found.read(list),
        change: (change) => checkedChange(found, list, change),
      }
    },
    delete: (id) => conversation(id).delete(),
  }
}

const OPEN_MAX = 200
const TEXT_MAX = 200
/** A journal never calls a model, so any window will do. */
const LIMITS = limitsFor({ windowTokens: 100_000, fixedTokens: 0 })

function checkName(at: string, value: unknown): void {
  if (typeof value === 'string' && value !== '' && value.length <= TEXT_MAX) return
  throw invalidOption(at, `"${at}" is ${show(value)}. It is a text of 1 to ${TEXT_MAX} characters.`)
}

async function checkedChange(
  conversation: Conversation,
  list: string,
  change: ListChange,
): Promise<ListOutcome> {
  checkKeys(change, ['operation', 'expects', 'clear', 'add'], 'change')
  for (const [at, items] of [
    ['add', change.add],
    ['expects', change.expects ?? []],
  ] as const) {
    if (!Array.isArray(items)) throw invalidOption(at, `"${at}" is ${show(items)}, not an array.`)
  }
  if (change.operation !== undefined) checkText('operation', change.operation)
  try {
    return await conversation.change(list, change)
  } catch (error) {
    if (error instanceof InvalidBodyError) throw invalidOption('add', error.message)
    throw error
  }
}

interface ListState {
  items: readonly JsonValue[]
  readonly operations: Map<string, string>
}

/** One conversation: a session of records, and what they come to as far as they were read. */
class Conversation {
  readonly #store: Store
  readonly #name: string
  readonly #conversation: string
  #generation = 0
  #id: SessionId | null = null
  #seen = 0
  #lists = new Map<string, ListState>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: Store, name: string, conversation: string) {
    this.#store = store
    this.#name = name
    this.#conversation = conversation
  }

  /** Appends records under a key, once. The number is that of the first one under the key. */
  async record(
    key: string,
    bodies: readonly JsonObject[],
    after?: EntryNumber,
  ): Promise<{
    readonly kind: 'recorded' | 'duplicate' | 'conflict' | 'moved'
    readonly entry: number
  }> {
    for (;;) {
      const id = this.#id ?? (await this.#open())
      const outcome: RecordOutcome = await this.#store.recordEntries({
        ...{
          sessionId: id,
          source: `${id}/journal`,
          key,
          operation: operationId(crypto.randomUUID()),
        },
        ...{ what: { kind: 'records', bodies }, ...(after !== undefined && { after }) },
      })
      switch (outcome.kind) {
        case 'recorded':
        case 'duplicate':
        case 'conflict':
          return outcome
        case 'moved':
          return { kind: 'moved', entry: 0 }
        case 'too-large':
          throw new ThroughlineError(
            'too-large',
            `A record of ${outcome.bytes} bytes is too large: a journal takes ${outcome.limit} at once.`,
            { at: key },
          )
        default:
          this.#forget()
      }
    }
  }

  /** The records behind an entry, oldest first; erased ones are left out. */
  async recordsAfter(entry: number): Promise<readonly JsonObject[]> {
    const id = this.#id ?? (await this.#open())
    const row = await this.#store.findSession(id)
    const entries = await readRange(this.#store, id, entry, row?.tail ?? 0)
    return entries.flatMap((each) => {
      const body = each.kind === 'record' ? parseBody('entry', each) : null
      return isObject(body) ? [body] : []
    })
  }

  async read(list: string): Promise<readonly JsonValue[]> {
    return await this.#oneAtATime(async () => {
      await this.#refresh()
      return this.#lists.get(list)?.items ?? []
    })
  }

  async change(list: string, change: ListChange): Promise<ListOutcome> {
    const { operation, expects = [], clear = false, add } = change
    const body = {
      list,
      drop: expects.length,
      clear,
      add,
      ...(operation !== undefined && { operation }),
    }
    const key = `list\n${list}\n${operation ?? crypto.randomUUID()}`
    return await this.#oneAtATime(async () => {
      for (;;) {
        // What only adds depends on nothing that was read.
        if (expects.length === 0) {
          const { kind } = await this.record(key, [body])
          return kind === 'conflict' ? 'operation-conflict' : 'changed'
        }
        await this.#refresh()
        const { items, operations } = this.#stateOf(list)
        const known = operation === undefined ? undefined : operations.get(operation)
        if (known !== undefined) {
          return known === canonicalJson(body) ? 'changed' : 'operation-conflict'
        }
        const end = items.slice(-expects.length)
        if (canonicalJson(end) !== canonicalJson(expects)) return 'suffix-mismatch'
        const { kind } = await this.record(key, [body], this.#seen as EntryNumber)
        if (kind !== 'moved') return kind === 'conflict' ? 'operation-conflict' : 'changed'
      }
    })
  }

  async delete(): Promise<void> {
    await this.#oneAtATime(async () => {
      const id = this.#id ?? (await this.#open())
      const operation = operationId(crypto.randomUUID())
      await this.#store.deleteSession({
        sessionId: id,
        operation,
        reason: 'deleted by its program',
        // A fork is made on purpose: keep it, and erase only the entries that it does not read.
        forks: 'keep',
      })
      await eraseDeleted(this.#store, id)
      this.#forget()
    })
  }

  #forget(): void {
    this.#id = null
    this.#seen = 0
    this.#lists = new Map()
  }

  /** The first generation that was not deleted; the id of a deleted session is never used again. */
  async #open(): Promise<SessionId> {
    for (;;) {
      const text = canonicalJson([this.#name, this.#conversation, this.#generation])
      const id = sessionId(`journal-${sha256Hex(text).slice(0, 40)}`)
      const row = await this.#store.findSession(id)
      if (row === undefined) {
        const operation = operationId(crypto.randomUUID())
        const terms = { agent: this.#name, limits: LIMITS, policy: 'queue' } as const
        await this.#store.createSession({ id, ...terms, operation })
        await this.#store.setTitle({ sessionId: id, title: `Journal: ${this.#conversation}` })
      }
      if (row === undefined || row.state === 'open') {
        this.#id = id
        return id
      }
      this.#generation += 1
    }
  }

  /** Reads new records, including those of other processes. */
  async #refresh(): Promise<void> {
    for (;;) {
      const id = this.#id ?? (await this.#open())
      const row = await this.#store.findSession(id)
      if (row?.state !== 'open') {
        this.#forget()
        continue
      }
      const entries = await readRange(this.#store, id, this.#seen, row.tail)
      for (const entry of entries) {
        const body = entry.kind === 'record' ? parseBody('entry', entry) : null
        if (isObject(body) && typeof body['list'] === 'string') this.#apply(body['list'], body)
      }
      this.#seen = row.tail
      return
    }
  }

  #stateOf(list: string): ListState {
    const known = this.#lists.get(list) ?? { items: [], operations: new Map() }
    this.#lists.set(list, known)
    return known
  }

  #apply(list: string, body: JsonObject): void {
    const state = this.#stateOf(list)
    const { drop, clear, add, operation } = body as unknown as {
      readonly drop: number
      readonly clear: boolean
      readonly add: readonly JsonValue[]
      readonly operation?: string
    }
    const kept = clear ? [] : drop === 0 ? state.items : state.items.slice(0, -drop)
    state.items = [...kept, ...add]
    if (operation !== undefined) state.operations.set(operation, canonicalJson(body))
  }

  #oneAtATime<Value>(act: () => Promise<Value>): Promise<Value> {
    const next = this.#last.then(act, act)
    this.#last = next.catch(() => {})
    return next
  }
}
