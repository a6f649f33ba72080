import type { CommitVerb, OutcomeOf, ReadVerb, RequestOf, Store } from '../contract.ts'
import { StoreClosedError, StoreRefusedError } from '../errors.ts'
import { type AnswerOf, type Engine, type QueryOf, storeOver } from '../facade.ts'
import { RULES, type Rules } from '../rules/rules.ts'
import { memoryReads } from './reads.ts'
import { MemoryTables } from './tables.ts'

/**
 * The rules on plain maps, for tests and simulation. Several stores over the same tables behave
 * like several processes over one file; nothing survives the process.
 */
export function openMemoryStore({
  tables = new MemoryTables(),
  rules = RULES,
}: {
  readonly tables?: MemoryTables
  readonly rules?: Rules
} = {}): Store {
  return storeOver(new MemoryEngine(tables, rules))
}

class MemoryEngine implements Engine {
  readonly #tables: MemoryTables
  readonly #rules: Rules
  readonly #reads
  readonly #listeners = new Set<() => void>()
  #open = true

  constructor(tables: MemoryTables, rules: Rules) {
    this.#tables = tables
    this.#rules = rules
    this.#reads = memoryReads(tables)
  }

  // No `await` between reading and writing: this makes a verb atomic.
  async commit<Verb extends CommitVerb>(
    verb: Verb,
    request: RequestOf<Verb>,
  ): Promise<OutcomeOf<Verb>> {
    this.#checkOpen(verb)
    const stamp = this.#tables.stamp()
    const { outcome, change } = this.#rules[verb](this.#tables, request, stamp)
    if (change !== undefined) {
      this.#tables.apply(change, stamp.at)
      if (verb !== 'renew') for (const listener of this.#tables.listeners) queueMicrotask(listener)
    }
    return outcome
  }

  async read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): Promise<AnswerOf<Verb>> {
    this.#checkOpen(verb)
    return this.#reads[verb](query)
  }

  async backup(to: string): Promise<void> {
    throw new StoreRefusedError({ path: to, problem: 'a memory store has no file to copy.' })
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#tables.listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      this.#tables.listeners.delete(listener)
    }
  }

  async close(): Promise<void> {
    this.#open = false
    for (const listener of this.#listeners) {
      this.#tables.listeners.delete(listener)
      // Wakes those that wait for a change: their next read fails, because the store is closed.
      queueMicrotask(listener)
    }
  }

  #checkOpen(verb: string): void {
    if (!this.#open) throw new StoreClosedError({ verb })
  }
}
