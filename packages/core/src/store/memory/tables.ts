import { randomBytes, randomUUID } from 'node:crypto'
import type { EntryNumber, MailNumber, OperationId, RunnerId, SessionId } from '../../base/ids.ts'
import type { ErasedUpTo } from '../commits.ts'
import { compactionMetaOf, FOLDED_KINDS } from '../fold.ts'
import { sha256 } from '../integrity/canonical.ts'
import { hashAudit } from '../integrity/chain.ts'
import { lineOf, ownAfter, storedRanges } from '../lineage.ts'
import {
  type DraftRow,
  type NoteRow,
  PROPOSED,
  type ScheduleRow,
  type TokenRow,
  type UsageRow,
} from '../operational-rows.ts'
import type { ReplyHead, ReplyKey } from '../retention-commits.ts'
import type { Erase, ForkPrefix, RemainingRows, Rows, StoreChange } from '../rules/ruling.ts'
import type {
  AttemptRow,
  AuditRow,
  BlobRow,
  Entry,
  EntryHead,
  InputLane,
  IntakeRow,
  MailRow,
  OperationRow,
  ReplyRow,
  Route,
  RouteRow,
  RunnerRow,
  SessionRow,
} from '../tables/rows.ts'
import type { EmbeddedRow, VectorRow } from '../vector-rows.ts'

/** All rows of a memory store: maps by key, and one method that changes them. */
export class MemoryTables implements Rows {
  readonly id = randomUUID()
  readonly sessions = new Map<SessionId, SessionRow>()
  readonly runners = new Map<RunnerId, RunnerRow>()
  readonly intakes = new Map<string, IntakeRow>()
  readonly entries = new Map<SessionId, Entry[]>()
  readonly mails = new Map<SessionId, MailRow[]>()
  readonly senders = new Map<string, number>()
  readonly operations = new Map<OperationId, OperationRow>()
  readonly replies = new Map<string, ReplyRow>()
  readonly drafts = new Map<string, DraftRow>()
  readonly routes = new Map<string, RouteRow>()
  readonly blobs = new Map<string, BlobRow>()
  readonly attempts = new Map<OperationId, AttemptRow>()
  readonly usage: UsageRow[] = []
  readonly schedules = new Map<string, ScheduleRow>()
  readonly noted = new Map<string, NoteRow>()
  readonly access = new Map<string, TokenRow>()
  readonly embeddings = new Map<SessionId, EmbeddedRow>()
  readonly vectors = new Map<SessionId, Map<number, VectorRow>>()
  readonly audit: AuditRow[] = []
  readonly listeners = new Set<() => void>()
  readonly #clock: () => number
  readonly #random: () => string

  constructor({ clock = Date.now, random = () => randomBytes(16).toString('hex') } = {}) {
    this.#clock = clock
    this.#random = random
  }

  stamp(): { at: number; seed: string } {
    return { at: this.#clock(), seed: this.#random() }
  }

  session(id: SessionId): SessionRow | undefined {
    return this.sessions.get(id)
  }
  heldBy(runner: RunnerId): readonly SessionRow[] {
    return [...this.sessions.values()].filter((session) => session.runner === runner)
  }
  related(root: SessionId): readonly SessionRow[] {
    return [...this.sessions.values()].filter((row) => row.id === root || row.root === root)
  }
  runner(id: RunnerId): RunnerRow | undefined {
    return this.runners.get(id)
  }
  intake(keyHash: string): IntakeRow | undefined {
    return this.intakes.get(keyHash)
  }
  mail(sessionId: SessionId, number: MailNumber): MailRow | undefined {
    return this.mails.get(sessionId)?.[number - 1]
  }
  firstWaiting(sessionId: SessionId, lane: InputLane, after: MailNumber): MailNumber | undefined {
    const rows = this.mails.get(sessionId) ?? []
    for (let index = after; index < rows.length; index++) {
      const row = rows[index]
      if (row?.lane === lane && row.state === 'admitted') return row.number
    }
    return undefined
  }
  waitingStops(sessionId: SessionId): readonly MailRow[] {
    if ((this.sessions.get(sessionId)?.pending.control ?? 0) === 0) return []
    return (this.mails.get(sessionId) ?? []).filter(
      (row) => row.control === 'stop' && row.state === 'admitted',
    )
  }
  sourcePending(sessionId: SessionId, source: string): number {
    return this.senders.get(key(sessionId, source)) ?? 0
  }
  /** For a fork, includes entries that it reads from other sessions. */
  entriesOf(sessionId: SessionId, from = 1, to = Number.MAX_SAFE_INTEGER): readonly Entry[] {
    const session = this.sessions.get(sessionId)
    if (session === undefined || session.origin === null || from > session.forkedAt) {
      return this.entries.get(sessionId)?.slice(from - 1, to) ?? []
    }
    const line = lineOf(session, (id) => this.sessions.get(id))
    return storedRanges(line, from, to).flatMap(
      (stretch) => this.entries.get(stretch.sessionId)?.slice(stretch.from - 1, stretch.to) ?? [],
    )
  }
  /** Only the session's own entries. */
  ownEntries(sessionId: SessionId): readonly Entry[] {
    const session = this.sessions.get(sessionId)
    const after = session === undefined ? 0 : ownAfter(session)
    return this.entries.get(sessionId)?.slice(after) ?? []
  }
  entry(sessionId: SessionId, number: EntryNumber): Entry | undefined {
    return this.entriesOf(sessionId, number, number)[0]
  }
  inputsAfter(sessionId: SessionId, number: EntryNumber): readonly EntryHead[] {
    return this.entriesOf(sessionId, number + 1).filter(({ kind }) => kind === 'input')
  }
  forkPrefix(sessionId: SessionId, upto: EntryNumber): ForkPrefix {
    const settings = this.sessions.get(sessionId)?.settings ?? 0
    const entries = this.entriesOf(sessionId, 1, Math.max(upto, settings))
    const behind = entries.slice(0, upto)
    const last = behind.findLastIndex(({ kind }) => kind === 'assistant' || kind === 'turn')
    return {
      folded: entries.filter(({ kind }) => (FOLDED_KINDS as readonly string[]).includes(kind)),
      newest: last === -1 ? [] : behind.slice(last),
    }
  }
  erased(sessionIds: readonly SessionId[]): readonly string[] {
    return sessionIds.flatMap((id) =>
      this.ownEntries(id).flatMap(({ body, hash }) => (body === null ? [hash] : [])),
    )
  }
  handoffs(sessionId: SessionId): readonly EntryHead[] {
    return this.ownEntries(sessionId).filter((entry) => compactionMetaOf(entry) !== undefined)
  }
  operation(id: OperationId): OperationRow | undefined {
    return this.operations.get(id)
  }
  route({ agent, channel, address }: Route): RouteRow | undefined {
    return this.routes.get(key(agent, channel, address))
  }
  blobUses(sessionId: SessionId, hash: string): number | undefined {
    return this.blobs.get(key(sessionId, hash))?.uses
  }
  reply(sessionId: SessionId, number: number): ReplyRow | undefined {
    return this.replies.get(key(sessionId, number))
  }
  repliesOf(sessionId: SessionId, entry: EntryNumber): readonly ReplyRow[] {
    return [...this.replies.values()].filter(
      (reply) => reply.sessionId === sessionId && reply.entry === entry,
    )
  }
  nextReply(edge: string, at: number): ReplyRow | undefined {
    const first = new Map<string, ReplyRow>()
    for (const reply of this.replies.values()) {
      if (reply.edge !== edge || reply.state !== 'waiting' || reply.body === null) continue
      const address = key(reply.sessionId, reply.address)
      if (!first.has(address)) first.set(address, reply)
    }
    const isFree = ({ claimant }: ReplyRow) => claimant === null || !this.runners.has(claimant)
    return [...first.values()]
      .filter((reply) => isFree(reply) && reply.dueAt <= at)
      .sort((a, b) => a.dueAt - b.dueAt || a.at - b.at)[0]
  }
  repliesAfter(after: ReplyKey | undefined, limit: number): readonly ReplyHead[] {
    const isLast = ({ sessionId, number }: ReplyRow) =>
      number >= (this.sessions.get(sessionId)?.replies ?? 0)
    return [...this.replies.values()]
      .sort(byKey)
      .filter((reply) => after === undefined || byKey(reply, after) > 0)
      .slice(0, limit)
      .map((reply) => ({ ...reply, isLast: isLast(reply) }))
  }
  attempt(id: OperationId): AttemptRow | undefined {
    return this.attempts.get(id)
  }
  attemptsBefore(at: number, limit: number): readonly AttemptRow[] {
    const old = [...this.attempts.values()].filter((row) => row.at < at)
    return old.sort((a, b) => a.at - b.at).slice(0, limit)
  }
  schedule(id: string): ScheduleRow | undefined {
    return this.schedules.get(id)
  }
  waitingSchedules(sessionId: SessionId): number {
    const rows = [...this.schedules.values()].filter((row) => row.sessionId === sessionId)
    return rows.filter(({ state }) => state === 'waiting').length
  }
  note(agent: string, scope: string, id: string): NoteRow | undefined {
    return this.noted.get(key(agent, scope, id))
  }
  notes(agent: string, scope: string): number {
    const rows = [...this.noted.values()].filter((row) => row.agent === agent)
    return rows.filter((row) => row.scope === scope).length
  }
  notesFrom(sessionId: SessionId, entry: EntryNumber): readonly NoteRow[] {
    return [...this.noted.values()].filter(
      ({ id, origin }) =>
        origin?.sessionId === sessionId &&
        (id.startsWith(PROPOSED) ? origin.number >= entry : origin.number === entry),
    )
  }
  token(id: string): TokenRow | undefined {
    return this.access.get(id)
  }
  tokenOf(hash: string): TokenRow | undefined {
    return [...this.access.values()].find((row) => row.hash === hash)
  }
  tokens(): number {
    return this.access.size
  }
  embedded(sessionId: SessionId): EmbeddedRow | undefined {
    return this.embeddings.get(sessionId)
  }
  livingEntries(sessionId: SessionId, after: number, upto: number): readonly EntryNumber[] {
    const own = this.ownEntries(sessionId).filter(({ body }) => body !== null)
    return own.map(({ number }) => number).filter((number) => number > after && number <= upto)
  }
  stagedBefore(at: number): readonly BlobRow[] {
    return [...this.blobs.values()].filter((blob) => blob.uses === 0 && blob.at < at)
  }
  remainingRows(
    sessionId: SessionId,
    limit: number,
    after: ErasedUpTo,
    retained: EntryNumber,
  ): RemainingRows {
    const own = this.ownEntries(sessionId)
    const used = new Set(
      own
        .filter(({ number, body }) => number <= retained && body !== null)
        .flatMap(({ meta }) => ('blobs' in meta ? meta.blobs : [])),
    )
    const of = <Row extends { sessionId: SessionId }>(rows: Map<string, Row>) =>
      [...rows.values()].filter((row) => row.sessionId === sessionId).slice(0, limit)
    return {
      entries: own
        .filter(({ number, body }) => body !== null && number > Math.max(after.entry, retained))
        .slice(0, limit)
        .map((entry) => entry.number),
      mail: (this.mails.get(sessionId) ?? [])
        .filter((mail) => (mail.body !== null || mail.key !== null) && mail.number > after.mail)
        .slice(0, limit)
        .map((mail) => mail.number),
      replies: [...this.replies.values()]
        .filter((reply) => reply.sessionId === sessionId && reply.number > after.reply)
        .filter((reply) => reply.body !== null)
        .slice(0, limit)
        .map((reply) => reply.number),
      blobs: [...this.blobs.values()]
        .filter((blob) => blob.sessionId === sessionId && !used.has(blob.hash))
        .slice(0, limit)
        .map((blob) => blob.hash),
      routes: of(this.routes),
      schedules: of(this.schedules).map((row) => row.id),
      notes: [...this.noted.values()]
        .filter(({ origin }) => origin?.sessionId === sessionId)
        .slice(0, limit),
    }
  }

  apply(change: StoreChange, at: number): void {
    for (const { after } of change.sessions ?? []) this.sessions.set(after.id, after)
    for (const { id, after } of change.runners ?? []) {
      if (after === null) this.runners.delete(id)
      else this.runners.set(id, after)
    }
    for (const { sessionId, entry } of change.entries ?? []) {
      place(this.entries, sessionId, entry)
    }
    for (const { sessionId, mail } of change.mail ?? []) place(this.mails, sessionId, mail)
    for (const row of change.intake ?? []) this.intakes.set(row.keyHash, row)
    for (const row of change.senders ?? []) {
      this.senders.set(key(row.sessionId, row.source), row.pending)
    }
    const gone = change.sendersRemoved
    if (gone !== undefined) {
      for (const name of this.senders.keys()) if (isOf(gone, name)) this.senders.delete(name)
    }
    for (const row of change.operations ?? []) this.operations.set(row.id, row)
    for (const row of change.replies ?? []) this.replies.set(key(row.sessionId, row.number), row)
    for (const { sessionId, number } of change.repliesRemoved ?? []) {
      this.replies.delete(key(sessionId, number))
    }
    for (const row of change.routes ?? []) {
      this.routes.set(key(row.agent, row.channel, row.address), row)
    }
    for (const row of change.routesRemoved ?? []) {
      this.routes.delete(key(row.agent, row.channel, row.address))
    }
    for (const row of change.blobs ?? []) this.blobs.set(key(row.sessionId, row.hash), row)
    for (const { sessionId, hash, uses } of change.blobUses ?? []) {
      const blob = this.blobs.get(key(sessionId, hash))
      if (uses === 0) this.blobs.delete(key(sessionId, hash))
      else if (blob !== undefined) this.blobs.set(key(sessionId, hash), { ...blob, uses })
    }
    for (const row of change.drafts ?? []) {
      if (row.ids.length === 0) this.drafts.delete(key(row.sessionId, row.key))
      else this.drafts.set(key(row.sessionId, row.key), row)
    }
    for (const [name, { sessionId }] of this.drafts) {
      if (sessionId === change.draftsRemoved) this.drafts.delete(name)
    }
    for (const row of change.attempts ?? []) this.attempts.set(row.id, row)
    for (const id of change.attemptsRemoved ?? []) this.attempts.delete(id)
    this.usage.push(...(change.usage ?? []))
    for (const { after } of change.schedules ?? []) this.schedules.set(after.id, after)
    for (const id of change.schedulesRemoved ?? []) this.schedules.delete(id)
    for (const { after } of change.notes ?? []) {
      this.noted.set(key(after.agent, after.scope, after.id), after)
    }
    for (const { agent, scope, id } of change.notesRemoved ?? []) {
      this.noted.delete(key(agent, scope, id))
    }
    for (const row of change.tokens ?? []) this.access.set(row.id, row)
    for (const id of change.tokensRemoved ?? []) this.access.delete(id)
    if (change.vectorsRemoved !== undefined) {
      this.embeddings.delete(change.vectorsRemoved)
      this.vectors.delete(change.vectorsRemoved)
    }
    for (const row of change.embedded ?? []) this.embeddings.set(row.sessionId, row)
    for (const row of change.vectors ?? []) {
      const own = this.vectors.get(row.sessionId) ?? new Map<number, VectorRow>()
      this.vectors.set(row.sessionId, own.set(row.number, row))
    }
    for (const each of change.erase ?? []) this.#erase(each)
    for (const draft of change.audit ?? []) {
      const row = { ...draft, cursor: this.audit.length + 1, at }
      const prevHash = this.audit.at(-1)?.hash ?? sha256(this.id)
      this.audit.push({ ...row, hash: hashAudit(prevHash, row) })
    }
  }

  #erase({ sessionId, entries, mail, replies }: Erase): void {
    for (const number of entries) {
      const entry = this.entries.get(sessionId)?.[number - 1]
      if (entry) place(this.entries, sessionId, { ...entry, body: null, salt: null })
      this.vectors.get(sessionId)?.delete(number)
    }
    for (const number of mail) {
      const row = this.mail(sessionId, number)
      if (row) place(this.mails, sessionId, { ...row, body: null, source: null, key: null })
    }
    for (const number of replies) {
      const reply = this.reply(sessionId, number)
      if (reply) this.replies.set(key(sessionId, number), { ...reply, body: null })
    }
  }
}

function place<Row extends { readonly number: number }>(
  table: Map<SessionId, Row[]>,
  sessionId: SessionId,
  row: Row,
): void {
  const rows = table.get(sessionId) ?? []
  if (rows.length === 0) table.set(sessionId, rows)
  rows[row.number - 1] = row
}

export function key(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts)
}

function byKey(one: ReplyKey, other: ReplyKey): number {
  if (one.sessionId === other.sessionId) return one.number - other.number
  return one.sessionId < other.sessionId ? -1 : 1
}

function isOf(sessionId: SessionId, name: string): boolean {
  return name.startsWith(`${key(sessionId).slice(0, -1)},`)
}
