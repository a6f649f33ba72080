import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import { mailNumber, operationId, runnerId, sessionId } from '../../packages/core/src/base/ids.ts'
import { judgeHandoff, planCover } from '../../packages/core/src/session/context/budget.ts'
import type { SessionView } from '../../packages/core/src/session/context/session-view.ts'
import { readSource } from '../../packages/core/src/session/context/source.ts'
import { handoffWriter } from '../../packages/core/src/session/handoff.ts'
import { SessionViewReader } from '../../packages/core/src/session/session-view-reader.ts'
import { SESSION_SETTINGS } from '../../packages/core/src/session/settings.ts'
import { RENDERER } from '../../packages/core/src/session/step.ts'
import type { Lease, Store, Tail } from '../../packages/core/src/store/contract.ts'
import { estimateMessage, estimateText } from '../../packages/core/src/tokens/estimate.ts'

/**
 * A session that grows for as long as is wanted and is compacted every thousand messages, with the
 * session's own parts and a summary that costs nothing.
 */
const MESSAGE_TOKENS = 150
const DELIVERY = 100
const BETWEEN = 1_000

const counters = {
  countTokens: (text: string) => estimateText(text, 'claude'),
  countMessage: (message: Parameters<typeof estimateMessage>[0]) =>
    estimateMessage(message, 'claude'),
}

export interface Measured {
  readonly ownMs: number
  readonly handoffBytes: number
  /** What the process wrote from claim to commit; null where the system does not tell. */
  readonly writtenBytes: number | null
}

export class LongSession {
  readonly #store: Store
  readonly #lease: Lease
  readonly #reader: SessionViewReader
  readonly #writer = handoffWriter(counters, {
    summarize: async () => ({ text: this.#summarize(), finish: 'stop' }),
    breathe,
  })
  #tail: Tail
  #messages = 0
  /** The files that messages have named since the last compaction. */
  #files: string[] = []

  private constructor(store: Store, lease: Lease, tail: Tail) {
    this.#store = store
    this.#lease = lease
    this.#reader = new SessionViewReader(store, lease)
    this.#tail = tail
  }

  static async open(store: Store, id: string): Promise<LongSession> {
    const runner = runnerId(randomUUID())
    const host = { boot: 'bench', process: process.pid, startedAt: 0, leaseMs: 3_600_000 }
    await store.registerRunner({ id: runner, ...host })
    const request = { sessionId: sessionId(id), runner, holder: 'bench', fence: 0 }
    const outcome = await store.acquire(request)
    if (outcome.kind !== 'acquired') throw new Error(`not acquired: ${outcome.kind}`)
    const { tail, tailHash } = outcome.session
    return new LongSession(store, outcome.lease, { number: tail, hash: tailHash })
  }

  /** Grows to so many messages; the last stretch is left for a compaction to be measured. */
  async growTo(messages: number): Promise<void> {
    while (this.#messages < messages) {
      await this.#grow(BETWEEN)
      if (this.#messages < messages) await this.compact()
    }
  }

  /** Indexing follows behind the appends; what it writes belongs to them. */
  async settle(): Promise<void> {
    for (let last = -1; last !== writtenBytes(); ) {
      last = writtenBytes() ?? 0
      await sleep(300)
    }
  }

  async compact(): Promise<Measured> {
    const before = await this.#look()
    const writtenBefore = writtenBytes()
    const started = performance.now()
    const covers = planCover(before, 'manual', SESSION_SETTINGS)
    if (covers === null) throw new Error('the bench expects something to compact')
    const operation = operationId(randomUUID())
    const claimed = await this.#store.claimCompaction({
      lease: this.#lease,
      operation,
      by: 'model',
      trigger: 'manual',
      reason: 'bench',
      covers,
    })
    if (claimed.kind !== 'claimed') throw new Error(`not claimed: ${claimed.kind}`)
    const { session, context } = before
    const source = await readSource(this.#store, session, claimed.operation, context, [])
    const written = await this.#writer.write(
      {
        agent: session.agent,
        operation: claimed.operation,
        focus: null,
        ...source,
        limits: session.limits,
        settings: SESSION_SETTINGS,
      },
      new AbortController().signal,
    )
    if (written.kind !== 'written') throw new Error(`not written: ${written.reason}`)
    const { handoff, tokens } = written
    const problem = judgeHandoff(before, { by: 'model', covers, tokens, carries: [] })
    if (problem !== null) throw new Error(`not accepted: ${problem}`)
    const body = JSON.parse(JSON.stringify(handoff))
    const outcome = await this.#store.commitCompaction({
      ...this.#fenced(),
      operation,
      body,
      tokens,
      result: {},
    })
    if (outcome.kind !== 'committed') throw new Error(`not committed: ${outcome.kind}`)
    this.#tail = outcome.tail
    this.#files = []
    await this.#look()
    const ownMs = performance.now() - started
    const writtenAfter = writtenBytes()
    const isKnown = writtenBefore !== null && writtenAfter !== null
    return {
      ownMs,
      handoffBytes: Buffer.byteLength(JSON.stringify(body)),
      writtenBytes: isKnown ? writtenAfter - writtenBefore : null,
    }
  }

  /** About 8 kB with names from the whole range, as the judge of summaries expects. */
  #summarize(): string {
    const files = this.#files.filter((_, index) => index % 3 === 0)
    return `The user asked for another look at these files, and each was checked: ${files.join(', ')}.`
  }

  #fenced() {
    return { lease: this.#lease, tail: this.#tail }
  }

  async #look(): Promise<SessionView> {
    const seen = await this.#reader.look()
    if (seen === null) throw new Error('the bench lost its session')
    return seen.view
  }

  async #grow(count: number): Promise<void> {
    for (let left = count; left > 0; left -= DELIVERY + 1) await this.#exchange()
    this.#messages += count
  }

  /** A hundred messages come in and are answered by one. */
  async #exchange(): Promise<void> {
    const mail = await Promise.all(Array.from({ length: DELIVERY }, () => this.#admit()))
    const numbers = mail.toSorted((a, b) => a - b).map(mailNumber)
    const delivered = await this.#store.deliver({
      ...this.#fenced(),
      operation: operationId(randomUUID()),
      mail: numbers,
    })
    if (delivered.kind !== 'delivered') throw new Error(`not delivered: ${delivered.kind}`)
    this.#tail = delivered.tail
    const text = 'These were taken care of, one after another. '.repeat(13)
    const reply = await this.#store.commitReply({
      ...this.#fenced(),
      operation: operationId(randomUUID()),
      turn: delivered.turn,
      step: {
        upto: this.#tail.number,
        renderer: RENDERER,
        calls: [],
        body: { role: 'assistant', parts: [{ type: 'text', text }] },
        tokens: MESSAGE_TOKENS,
      },
      ends: { how: 'answered', replies: [] },
    })
    if (reply.kind !== 'committed') throw new Error(`not answered: ${reply.kind}`)
    this.#tail = reply.tail
    // As its actor does: what a thousand messages leave behind is not a compaction's own.
    await this.#look()
  }

  async #admit(): Promise<number> {
    const key = randomUUID()
    const file = `src/part-${key.slice(0, 4)}/file.ts`
    this.#files.push(file)
    const text = `${key} please look at ${file} again. `.repeat(8)
    const outcome = await this.#store.admit({
      to: { sessionId: this.#lease.sessionId },
      source: 'bench',
      key,
      lane: 'user',
      body: { message: { role: 'user', parts: [{ type: 'text', text }] } },
      tokens: MESSAGE_TOKENS,
    })
    if (outcome.kind !== 'admitted') throw new Error(`not admitted: ${outcome.kind}`)
    return outcome.mail
  }
}

/** Everything that this process, its store's threads included, handed to the system to write. */
function writtenBytes(): number | null {
  try {
    const found = /^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))
    return found === null ? null : Number(found[1])
  } catch {
    return null
  }
}
