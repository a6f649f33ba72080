import { deepEqual } from 'node:assert/strict'
import {
  entryNumber,
  operationId,
  type RunnerId,
  type SessionId,
} from '../../../packages/core/src/base/ids.ts'
import type { JsonObject, JsonValue } from '../../../packages/core/src/base/json.ts'
import type { Lease, Store } from '../../../packages/core/src/store/contract.ts'
import type { WrittenRows } from '../../../packages/core/src/store/outcomes.ts'
import type { SessionRow } from '../../../packages/core/src/store/tables/rows.ts'

/**
 * Two sessions from birth to erasure, told to a store. Each line has a verb's outcome and everything
 * that it changed: fields of session rows, new entries, new lines of the audit.
 */
export class Story {
  readonly lines: string[] = []
  readonly #store: Store
  readonly #sessions = new Map<SessionId, SessionRow | undefined>()
  #leases = new Map<SessionId, Lease>()
  #cursor = 0
  #operations = 0

  constructor(store: Store) {
    this.#store = store
  }

  async tell(verb: string, said: Promise<unknown>): Promise<void> {
    const outcome = (await said) as JsonObject
    const { session: _, written, lease, ...rest } = outcome as { readonly [key: string]: unknown }
    if (lease !== undefined) this.#leases.set((lease as Lease).sessionId, lease as Lease)
    this.#note({ [verb]: rest as JsonValue })
    for (const [id, before] of this.#sessions) await this.#showChanges(id, before)
    if (written !== undefined) await this.#checkWritten(written as WrittenRows)
    const audit = await this.#store.readAudit({ after: this.#cursor, limit: 99 })
    for (const { cursor, sessionId: id, kind, operation, phase, facts } of audit) {
      this.#cursor = cursor
      this.#note({ audit: [cursor, id, kind, operation, phase, facts] })
    }
  }

  async #showChanges(id: SessionId, before: SessionRow | undefined): Promise<void> {
    const row = await this.#store.findSession(id)
    this.#sessions.set(id, row)
    if (row === undefined) return
    const changed = Object.entries(row).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(before?.[key as keyof SessionRow]),
    )
    if (changed.length > 0) this.#note({ [id]: Object.fromEntries(changed) })
    const from = entryNumber((before?.tail ?? row.forkedAt) + 1)
    if (row.tail < from || row.state !== 'open') return
    const entries = await this.#store.readEntries({ sessionId: id, from, to: row.tail })
    for (const entry of entries) this.#note({ entry: entry as unknown as JsonValue })
  }

  /** What a commit says that it wrote is what is there. */
  async #checkWritten({ session, entries }: WrittenRows): Promise<void> {
    const { id, tail } = session
    const from = entryNumber(tail - entries.length + 1)
    const found = {
      session: await this.#store.findSession(id),
      entries:
        entries.length === 0
          ? []
          : await this.#store.readEntries({ sessionId: id, from, to: tail }),
    }
    deepEqual(found, { session, entries })
  }

  async rows(): Promise<void> {
    const page = { limit: 99 }
    for (const id of this.#sessions.keys()) {
      const of = { sessionId: id, ...page }
      const context = await this.#store.readContext({ sessionId: id })
      const operations = await this.#store.listOperations(of)
      this.#note({
        rows: id,
        mail: (await this.#store.listMail(of)) as unknown as JsonValue,
        replies: (await this.#store.listReplies(of)) as unknown as JsonValue,
        routes: (await this.#store.listRoutes(of)) as unknown as JsonValue,
        attempts: (await this.#store.readAttempts({ ...of, since: 0 })) as unknown as JsonValue,
        operations: operations.map(({ id, state, result }) => [id, state, result]),
        context: context?.entries.map(({ number }) => number) ?? null,
      })
    }
    this.#note({ runners: (await this.#store.listRunners()) as unknown as JsonValue })
    this.#note({ found: (await this.#store.verify({})) as unknown as JsonValue })
  }

  #note(line: JsonObject): void {
    this.lines.push(masked(line))
  }

  watch(id: SessionId): SessionId {
    this.#sessions.set(id, undefined)
    return id
  }

  lease(id: SessionId, runner: RunnerId): Lease {
    return this.#leases.get(id) ?? { sessionId: id, runner, holder: 'none', fence: 0 }
  }

  operation() {
    this.#operations += 1
    return operationId(`o${this.#operations}`)
  }
}

/** Hashes, salts and times differ from run to run; of two kinds of hash it is shown that they are there. */
function masked(value: JsonValue): string {
  return JSON.stringify(value, (name, item: unknown) => {
    if (/^(?:title|key)Hash$/.test(name)) return '#'
    if (/(?:hash|salt)$/i.test(name)) return item === null || item === '' ? item : undefined
    if (name === 'beat') return typeof item === 'number' ? 'beat' : item
    const isTime =
      /^at$|At$/.test(name) && !['dueAt', 'turnAt', 'forkedAt', 'retryAt'].includes(name)
    return isTime && typeof item === 'number' && item > 1_000_000_000_000 ? 'now' : item
  })
}
