import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  type EntryNumber,
  entryNumber,
  type MailNumber,
  type OperationId,
  operationId,
  type RunnerId,
  runnerId,
  type SessionId,
  sessionId,
} from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import type { Admit, CreateSession, Fenced, NewReply } from '../commits.ts'
import type { Lease, OutcomeOf, Store, Tail } from '../contract.ts'
import type { CompactionBy, Limits, SessionRow, TurnEnd } from '../tables/rows.ts'

export const LIMITS: Limits = {
  hardTokens: 1_000,
  pinTokens: 100,
  handoffTokens: 200,
  inputTokens: 300,
  stepTokens: 200,
  outputTokens: 200,
  laneMailMax: 50,
  sourceMailMax: 20,
}

export function newOperation(): OperationId {
  return operationId(randomUUID())
}

type OfKind<Value, Kind> = Value extends { readonly kind: infer Found }
  ? Kind extends Found
    ? Value
    : never
  : never

/** Asserts the kind of an outcome; any other fails and shows what was found. */
export function expectKind<Value extends { readonly kind: string }, Kind extends Value['kind']>(
  value: Value,
  kind: Kind,
): OfKind<Value, Kind> {
  assert.equal(value.kind, kind, `expected ${kind}, found ${JSON.stringify(value)}`)
  return value as OfKind<Value, Kind>
}

export async function register(store: Store, name = `runner-${randomUUID()}`): Promise<RunnerId> {
  const id = runnerId(name)
  const host = { boot: 'boot-1', process: 1, startedAt: 0, leaseMs: 30_000 }
  expectKind(await store.registerRunner({ id, ...host }), 'done')
  return id
}

export async function create(
  store: Store,
  fields: Partial<CreateSession> = {},
): Promise<SessionId> {
  const id = fields.id ?? sessionId(`s-${randomUUID()}`)
  const plain = {
    agent: 'ada',
    limits: LIMITS,
    policy: 'steer',
    operation: newOperation(),
  } as const
  expectKind(await store.createSession({ ...plain, ...fields, id }), 'created')
  return id
}

/** Plays the part of a session's actor: holds the lease, tracks the tail, and has short verbs. */
export class StoreFixture {
  readonly store: Store
  readonly id: SessionId
  lease: Lease
  tail: Tail

  constructor(store: Store, lease: Lease, session: SessionRow) {
    this.store = store
    this.id = session.id
    this.lease = lease
    this.tail = { number: session.tail, hash: session.tailHash }
  }

  static async open(store: Store, fields: Partial<CreateSession> = {}): Promise<StoreFixture> {
    const id = await create(store, fields)
    return StoreFixture.acquire(store, id, await register(store))
  }

  static async acquire(store: Store, id: SessionId, runner: RunnerId): Promise<StoreFixture> {
    const fence = (await store.findSession(id))?.fence ?? 0
    const holder = randomUUID()
    const got = expectKind(
      await store.acquire({ sessionId: id, runner, holder, fence }),
      'acquired',
    )
    return new StoreFixture(store, got.lease, got.session)
  }

  async row(): Promise<SessionRow> {
    const row = await this.store.findSession(this.id)
    assert.ok(row, 'the session is there')
    return row
  }

  fenced(): Fenced {
    return { lease: this.lease, tail: this.tail, operation: newOperation() }
  }

  async tryAdmit(body: JsonValue, fields: Partial<Admit> = {}): Promise<OutcomeOf<'admit'>> {
    const plain = { to: { sessionId: this.id }, source: 'chat', lane: 'user', tokens: 10 } as const
    return this.store.admit({ ...plain, key: randomUUID(), ...fields, body })
  }

  async admit(body: JsonValue, fields: Partial<Admit> = {}): Promise<MailNumber> {
    return expectKind(await this.tryAdmit(body, fields), 'admitted').mail
  }

  async stop(): Promise<MailNumber> {
    return this.admit({}, { lane: 'control', control: 'stop', tokens: 0 })
  }

  async deliver(...mail: MailNumber[]): Promise<readonly EntryNumber[]> {
    const outcome = expectKind(await this.store.deliver({ ...this.fenced(), mail }), 'delivered')
    this.tail = outcome.tail
    return outcome.entries
  }

  /** Admits and delivers texts, which starts a turn. */
  async hear(...texts: string[]): Promise<readonly EntryNumber[]> {
    const mail: MailNumber[] = []
    for (const text of texts) mail.push(await this.admit(said(text)))
    return this.deliver(...mail)
  }

  async reply(
    text: string,
    { calls = [], upto = this.tail.number, ends, replies = [], blobs = [] }: ReplyFields = {},
  ): Promise<Extract<OutcomeOf<'commitReply'>, { kind: 'committed' }>> {
    const { turn } = await this.row()
    const outcome = await this.store.commitReply({
      ...this.fenced(),
      turn,
      step: { upto, renderer: 'r1', calls, body: said(text), tokens: 10, blobs },
      ...(ends === undefined ? {} : { ends: { how: ends, replies } }),
    })
    const committed = expectKind(outcome, 'committed')
    this.tail = committed.tail
    return committed
  }

  /** One whole exchange: a message and its answer. */
  async exchange(
    question: string,
    answer: string,
    replies: readonly NewReply[] = [],
  ): Promise<void> {
    await this.hear(question)
    await this.reply(answer, { ends: 'answered', replies })
  }

  async results(...calls: string[]): Promise<void> {
    const results = calls.map((call) => ({
      call,
      outcome: 'ok' as const,
      body: `result of ${call}`,
      tokens: 5,
    }))
    const outcome = await this.store.commitResults({ ...this.fenced(), results })
    this.tail = expectKind(outcome, 'committed').tail
  }

  async tryClaim(
    covers: number,
    by: CompactionBy = 'model',
  ): Promise<OutcomeOf<'claimCompaction'>> {
    return this.store.claimCompaction({
      lease: this.lease,
      operation: newOperation(),
      by,
      trigger: 'background',
      reason: 'soft threshold',
      covers: entryNumber(covers),
    })
  }

  async claim(covers: number, by: CompactionBy = 'model'): Promise<OperationId> {
    return expectKind(await this.tryClaim(covers, by), 'claimed').operation.id
  }

  async tryCommit(
    operation: OperationId,
    carries: readonly EntryNumber[] = [],
  ): Promise<OutcomeOf<'commitCompaction'>> {
    const { lease, tail } = this
    const content = { body: { summary: 'what happened' }, tokens: 20, result: { tokensAfter: 20 } }
    return this.store.commitCompaction({ lease, tail, operation, carries, ...content })
  }

  /** Claims and commits a clearing of the results up to this entry. */
  async clear(upto: number): Promise<OutcomeOf<'commitCompaction'>> {
    const operation = await this.claim((await this.row()).covers, 'clearing')
    const { lease, tail } = this
    const content = { body: {}, tokens: 0, result: {}, clears: { upto, tokens: 100 } }
    const outcome = await this.store.commitCompaction({ lease, tail, operation, ...content })
    if (outcome.kind === 'committed') this.tail = outcome.tail
    return outcome
  }

  async commit(operation: OperationId, carries: readonly EntryNumber[] = []): Promise<EntryNumber> {
    const outcome = expectKind(await this.tryCommit(operation, carries), 'committed')
    this.tail = outcome.tail
    return outcome.entry
  }

  async compact(
    covers: number,
    by: CompactionBy = 'model',
    carries: readonly EntryNumber[] = [],
  ): Promise<EntryNumber> {
    return this.commit(await this.claim(covers, by), carries)
  }

  async revert(target: EntryNumber, tokensAfter = 50): Promise<OutcomeOf<'revert'>> {
    const outcome = await this.store.revert({ ...this.fenced(), target, tokensAfter })
    if (outcome.kind === 'reverted') this.tail = outcome.tail
    return outcome
  }

  async pin(name: string, body: string, tokens: number): Promise<OutcomeOf<'pin'>> {
    const request = { ...this.fenced(), name, change: 'set', body, tokens } as const
    const outcome = await this.store.pin(request)
    if (outcome.kind === 'appended') this.tail = outcome.tail
    return outcome
  }

  async erase(
    entries: readonly EntryNumber[],
    replacement?: string,
  ): Promise<OutcomeOf<'eraseEntries'>> {
    const outcome = await this.store.eraseEntries({
      ...this.fenced(),
      entries,
      reason: 'asked for',
      ...(replacement === undefined
        ? {}
        : { replacement: { body: { summary: replacement }, tokens: 5 } }),
    })
    if (outcome.kind === 'erased') this.tail = outcome.tail
    return outcome
  }
}

interface ReplyFields {
  readonly calls?: readonly string[]
  readonly upto?: EntryNumber
  readonly ends?: TurnEnd
  readonly replies?: readonly NewReply[]
  readonly blobs?: readonly string[]
}

export function said(text: string): JsonValue {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

export function replyTo(address: string, key: string = randomUUID()): NewReply {
  return { edge: 'telegram', address, key, body: { text: `to ${address}` } }
}
