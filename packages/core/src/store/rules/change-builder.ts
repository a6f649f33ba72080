import { type EntryNumber, entryNumber, type MailNumber, type OperationId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { NewReply } from '../commits.ts'
import { InvalidRequestError } from '../errors.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import { hashBody, hashEntry, saltFor } from '../integrity/chain.ts'
import { isCount } from '../measure.ts'
import type { Refusal, WrittenRows } from '../outcomes.ts'
import type {
  AuditKind,
  Entry,
  EntryHead,
  InputLane,
  MailRow,
  OperationRow,
  OperationState,
  ReplyRow,
  SessionRow,
} from '../tables/rows.ts'
import type { AuditDraft, Rows, Stamp, StoreChange } from './ruling.ts'

type NewHead = EntryHead extends infer Head
  ? Head extends EntryHead
    ? Pick<Head, 'kind' | 'meta'>
    : never
  : never

/** Builds one commit on one session. Nothing takes effect until an engine applies `change`. */
export class Draft {
  readonly #rows: Rows
  readonly #stamp: Stamp
  readonly #operation: OperationId
  readonly #before: SessionRow
  #session: SessionRow
  #entries: Entry[] = []
  #mail = new Map<MailNumber, MailRow>()
  #senders = new Map<string, number>()
  #operations: OperationRow[] = []
  #replies: ReplyRow[] = []
  #blobUses = new Map<string, number>()
  #audit: AuditDraft[] = []

  constructor(rows: Rows, session: SessionRow, operation: OperationId, stamp: Stamp) {
    this.#rows = rows
    this.#before = session
    this.#session = session
    this.#operation = operation
    this.#stamp = stamp
  }

  get session(): SessionRow {
    return this.#session
  }

  get written(): WrittenRows {
    return { session: this.#session, entries: this.#entries }
  }

  set(fields: Partial<SessionRow>): void {
    this.#session = { ...this.#session, ...fields }
  }

  /** `at`: when the entry was written, if not now. */
  append(
    head: NewHead,
    content: { readonly body: string; readonly tokens: number; readonly at?: number },
  ): EntryNumber {
    const session = this.#session
    const number = entryNumber(session.tail + 1)
    if (!isCount(content.tokens)) {
      throw new InvalidRequestError({
        problem: `An entry's tokens must be a whole number from 0; found ${content.tokens}.`,
      })
    }
    const full = {
      ...head,
      number,
      operation: this.#operation,
      fence: session.fence,
      at: content.at ?? this.#stamp.at,
      tokens: content.tokens,
    } as EntryHead
    const salt = saltFor(this.#stamp.seed, number)
    const bodyHash = hashBody(salt, content.body)
    const prevHash = session.tailHash
    const hash = hashEntry(prevHash, full, bodyHash)
    this.#entries.push({ ...full, body: content.body, salt, bodyHash, prevHash, hash })
    this.set({ tail: number, tailHash: hash })
    return number
  }

  appendJson(
    head: NewHead,
    content: { readonly body: JsonValue; readonly tokens: number },
  ): EntryNumber {
    return this.append(head, { body: canonicalJson(content.body), tokens: content.tokens })
  }

  /**
   * Removes an item from the waiting ones; `fields` has its new state. A control item loses its
   * body: the entry that carried it out has it, and a copy here would survive the erasure of that
   * entry. So does a withdrawn notification, since it is in no entry and no erasure would reach it.
   * A message that a person withdrew stays on record until the session is deleted.
   */
  unqueue(mail: MailRow, fields: Partial<MailRow>): void {
    const pending = { ...this.#session.pending }
    pending[mail.lane] -= 1
    this.set({ pending })
    if (mail.source !== null) {
      const { id } = this.#session
      const waiting = this.#senders.get(mail.source) ?? this.#rows.sourcePending(id, mail.source)
      this.#senders.set(mail.source, waiting - 1)
    }
    if (Object.keys(fields).length === 0) return
    const isKept =
      mail.lane === 'user' || (mail.lane === 'notification' && fields.state !== 'withdrawn')
    const body = isKept ? mail.body : null
    this.#mail.set(mail.number, { ...mail, body, ...fields })
  }

  /** Settles control items that this commit answers; ignores those that no longer wait. */
  settleControls(numbers: readonly MailNumber[]): void {
    for (const number of numbers) {
      const mail = this.#mail.get(number) ?? this.#rows.mail(this.#session.id, number)
      if (mail?.lane !== 'control' || mail.state !== 'admitted') continue
      this.unqueue(mail, { state: 'settled' })
    }
  }

  /** The same, and says why they are not carried out. */
  refuseControls(numbers: readonly MailNumber[], { why, ...figures }: Refusal): void {
    if (numbers.length === 0) return
    this.settleControls(numbers)
    this.audit('control settled', { mail: [...numbers], refused: why, ...figures })
  }

  /**
   * Settles what the ending turn answered: all input that a model has seen, and the turn's stops.
   */
  settleTurn(): void {
    const { id, seen, delivered, turn } = this.#session
    const unseen = this.unseenInputs().filter((head) => head.number > seen)
    const upTo = (lane: InputLane) => {
      const first = unseen.find((head) => head.kind === 'input' && head.meta.lane === lane)
      return first?.kind === 'input' ? ((first.meta.mail - 1) as MailNumber) : delivered[lane]
    }
    this.set({ settled: { user: upTo('user'), notification: upTo('notification') } })
    const stops = this.#rows.waitingStops(id).filter((stop) => (stop.turnAt ?? 0) <= turn)
    this.settleControls(stops.map((stop) => stop.number))
  }

  /** Delivered input that was in the context of no committed step. */
  unseenInputs(): readonly EntryHead[] {
    return this.#rows
      .inputsAfter(this.#before.id, this.#before.seen)
      .filter((head) => head.number > this.#session.seen)
  }

  send(replies: readonly NewReply[], entry: EntryNumber): void {
    for (const { edge, address, key, body } of replies) {
      const number = this.#session.replies + 1
      const text = canonicalJson(body)
      const { at } = this.#stamp
      const fresh = { state: 'waiting', attempt: 0, claimant: null, dueAt: 0, receipt: '' } as const
      const sessionId = this.#session.id
      this.#replies.push({ sessionId, number, entry, edge, address, key, body: text, at, ...fresh })
      this.set({ replies: number })
    }
  }

  /** Counts a use of each blob. Returns the hash of the first missing one, if any. */
  useBlobs(hashes: readonly string[]): string | null {
    for (const hash of hashes) {
      const uses = this.#usesOf(hash)
      if (uses === undefined) return hash
      this.#blobUses.set(hash, uses + 1)
    }
    return null
  }

  dropBlobs(hashes: readonly string[]): void {
    for (const hash of hashes) {
      const uses = this.#usesOf(hash)
      if (uses !== undefined) this.#blobUses.set(hash, Math.max(0, uses - 1))
    }
  }

  #usesOf(hash: string): number | undefined {
    return this.#blobUses.get(hash) ?? this.#rows.blobUses(this.#session.id, hash)
  }

  put(operation: OperationRow): void {
    this.#operations.push(operation)
  }

  /** Ends the running operation and adds its audit row, in this commit. */
  endOperation(state: Exclude<OperationState, 'running'>, result: JsonObject): OperationId | null {
    const running = this.#session.operation
    const operation = running === null ? undefined : this.#rows.operation(running)
    if (operation === undefined || operation.state !== 'running') return null
    this.set({ operation: null })
    this.#operations.push({ ...operation, state, result, endedAt: this.#stamp.at })
    const { id, fence, base, covers } = operation
    this.#note(`compaction ${state}` as AuditKind, id, state, { fence, base, covers, ...result })
    return id
  }

  audit(kind: AuditKind, facts: JsonObject): void {
    this.#note(kind, null, null, facts)
  }

  auditOperation(kind: AuditKind, phase: string, facts: JsonObject): void {
    this.#note(kind, this.#operation, phase, facts)
  }

  #note(
    kind: AuditKind,
    operation: OperationId | null,
    phase: string | null,
    facts: JsonObject,
  ): void {
    this.#audit.push({ sessionId: this.#session.id, kind, operation, phase, facts })
  }

  change(): StoreChange {
    const sessionId = this.#session.id
    return {
      sessions: [{ before: this.#before, after: this.#session }],
      entries: this.#entries.map((entry) => ({ sessionId, entry })),
      mail: [...this.#mail.values()].map((mail) => ({ sessionId, mail })),
      senders: [...this.#senders].map(([source, pending]) => ({ sessionId, source, pending })),
      operations: this.#operations,
      replies: this.#replies,
      blobUses: [...this.#blobUses].map(([hash, uses]) => ({ sessionId, hash, uses })),
      audit: this.#audit,
    }
  }
}
