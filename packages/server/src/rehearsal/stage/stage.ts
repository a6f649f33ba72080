import { setTimeout as sleep } from 'node:timers/promises'
import { type MailNumber, mailNumber, type SessionId, sessionId } from '#core/base/ids'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { LIST_MAX } from '#core/store/bounds'
import type { Reads } from '#core/store/contract'
import type { Entry, OperationRow, SessionRow, TurnEnd } from '#core/store/tables/rows'
import type { PlannedFault } from '../fault-injector.ts'
import { readEntries } from '../kept.ts'
import type { Findings, LawName } from '../laws/laws.ts'
import { fillerOf } from '../laws/ledger.ts'
import type { SessionAction } from '../process-messages.ts'
import { AgentGone, type ProcessHandle } from './process-handle.ts'
import type { StageModel } from './stage-model.ts'

/**
 * Where scenes run: two processes that serve the same agents, a model of their own, and the store
 * as evidence. The first process holds every session while the second rests, unless a scene changes
 * that. A scene reports what it finds broken, and whether it could not continue.
 */
export interface StageParts {
  readonly first: ProcessHandle
  readonly second: ProcessHandle
  readonly store: Reads
  readonly model: StageModel
  readonly findings: Findings
  /** The folder of the rehearsal. */
  readonly folder: string
  /** The longest that any wait may take. */
  readonly waitMs: number
  /** A planted bug has been found, so waits that it blocks can end. */
  readonly isEnough: () => boolean
  readonly signal: AbortSignal
}

/** Ends a scene early because another one has already found the planted bug. */
class Enough extends Error {
  override readonly name = 'Enough'
}

export class NotInTime extends Error {
  override readonly name = 'NotInTime'
}

export type Scene = (stage: Stage) => Promise<void>

const LOOK_MS = 40
/** Time for other scenes to find more. */
const ENOUGH_MS = 1_500

export class Stage {
  readonly first: ProcessHandle
  readonly second: ProcessHandle
  readonly store: Reads
  readonly model: StageModel
  readonly folder: string
  readonly #findings: Findings
  readonly #waitMs: number
  readonly #isEnough: () => boolean
  readonly #signal: AbortSignal
  readonly #restarts = new Set<Promise<void>>()
  readonly #armed = new Map<string, ProcessHandle>()
  /** The mailbox positions of acknowledged messages. */
  readonly #locations = new Set<string>()
  readonly #met = new Set<string>()
  #keys = 0
  #enoughAt: number | null = null

  constructor(parts: StageParts) {
    this.first = parts.first
    this.second = parts.second
    this.store = parts.store
    this.model = parts.model
    this.folder = parts.folder
    this.#findings = parts.findings
    this.#waitMs = parts.waitMs
    this.#isEnough = parts.isEnough
    this.#signal = parts.signal
  }

  /** Runs scenes concurrently; a scene that fails does not affect the others. */
  async play(scenes: readonly Scene[]): Promise<void> {
    await Promise.all(
      scenes.map(async (scene) => {
        try {
          await scene(this)
        } catch (error) {
          if (error instanceof Enough) return
          const text = error instanceof Error ? error.message : String(error)
          this.broken('played', `${scene.name}: ${text}`)
        }
      }),
    )
    await Promise.all(this.#restarts)
    // A scene that failed must not leave commits held.
    for (const id of this.#armed.keys()) this.release(id)
  }

  /** Restarts the process while the scene continues; the act waits for it. */
  restart(handle: ProcessHandle): void {
    const owned = handle
      .start()
      .catch((error: unknown) => this.broken('played', `${handle.name}: ${String(error)}`))
      .finally(() => this.#restarts.delete(owned))
    this.#restarts.add(owned)
  }

  broken(law: LawName, offence: string): void {
    this.#findings.broken(law, offence)
  }

  /** Asks a process that is running, the first one if possible. */
  async ask(question: SessionAction): Promise<JsonValue> {
    const end = performance.now() + this.#waitMs
    for (;;) {
      for (const handle of [this.first, this.second]) {
        if (!handle.isReady) continue
        try {
          return await handle.ask(question)
        } catch (error) {
          if (!(error instanceof AgentGone)) throw error
        }
      }
      if (performance.now() > end) throw new Error(`nobody was there to ${question.what}`)
      await this.pause(LOOK_MS)
    }
  }

  async open(name: string): Promise<SessionId> {
    const created = await this.ask({ what: 'create', sessionId: name })
    if (entryKindOf(created) !== 'created') throw new Error(`${name} is ${entryKindOf(created)}`)
    return sessionId(name)
  }

  /** Resolves when the message is acknowledged. */
  async say(name: string, text: string, options: Telling = {}): Promise<MailNumber> {
    const { lane = 'user', ...rest } = options
    const request = { source: `${lane}-${name}`, key: `${name}-${++this.#keys}`, lane, text }
    const sent = await this.ask({ what: 'admit', sessionId: name, ...request, ...rest })
    const mail = isObject(sent) ? sent['mail'] : undefined
    if (typeof mail !== 'number') throw new Error(`not admitted: ${JSON.stringify(sent)}`)
    const location = `${name} as mail ${mail}`
    if (this.#locations.has(location)) this.broken('mailed', `two were acknowledged by ${location}`)
    this.#locations.add(location)
    return mailNumber(mail)
  }

  async stop(name: string): Promise<void> {
    const key = `stop-${++this.#keys}`
    await this.ask({ what: 'stop', sessionId: name, source: `person-${name}`, key })
  }

  /** Calls one of the verbs of a session with a new key. */
  async do(
    name: string,
    action: Extract<SessionAction, { what: 'do' }>['action'],
    request: JsonObject = {},
  ): Promise<JsonValue> {
    const keyed = { source: `person-${name}`, key: `${action}-${++this.#keys}`, ...request }
    return await this.ask({ what: 'do', sessionId: name, action: action, request: keyed })
  }

  async withdraw(name: string, mail: MailNumber): Promise<string> {
    const asked = { what: 'do', sessionId: name, action: 'withdraw', request: mail } as const
    return entryKindOf(await this.ask(asked))
  }

  /** Sends texts long enough to make a compaction worthwhile, and waits for the answers. */
  async fill(name: string, sizes: readonly number[]): Promise<void> {
    for (const [at, tokens] of sizes.entries()) {
      await this.ended(name, await this.say(name, long(`${name} page ${at + 1}`, tokens)))
    }
  }

  /** Requests a compaction and waits until it is in effect. */
  async compact(name: string): Promise<void> {
    const before = (await this.row(name)).base
    await this.do(name, 'compact')
    await this.until(`${name} is compacted`, async () => (await this.row(name)).effective > before)
  }

  async row(name: string): Promise<SessionRow> {
    const row = await this.store.findSession(sessionId(name))
    if (row === undefined) throw new Error(`there is no ${name}`)
    return row
  }

  async entries(name: string): Promise<readonly Entry[]> {
    return await readEntries(this.store, await this.row(name))
  }

  async operations(name: string): Promise<readonly OperationRow[]> {
    return await this.store.listOperations({ sessionId: sessionId(name), limit: LIST_MAX })
  }

  /** The newest operation, as soon as one is running. */
  async running(name: string): Promise<OperationRow> {
    let found: OperationRow | undefined
    await this.until(`a compaction of ${name} runs`, async () => {
      found = (await this.operations(name)).find(({ state }) => state === 'running')
      return found !== undefined
    })
    if (found === undefined) throw new Error('no operation')
    return found
  }

  /** How that operation ended. */
  async outcome(name: string, { id }: OperationRow): Promise<OperationRow> {
    let found: OperationRow | undefined
    await this.until(`the compaction of ${name} ends`, async () => {
      found = await this.store.findOperation(id)
      return found !== undefined && found.state !== 'running'
    })
    if (found === undefined) throw new Error('no operation')
    return found
  }

  async untilTurn(name: string): Promise<void> {
    const test = async () => (await this.row(name)).turnState === 'running'
    await this.until(`a turn of ${name} runs`, test)
  }

  /** How the turn that took this mail ended. */
  async ended(name: string, mail: MailNumber): Promise<TurnEnd> {
    let ended: TurnEnd | undefined
    await this.until(`mail ${mail} of ${name} is answered`, async () => {
      ended = endOf(await this.entries(name), mail)
      return ended !== undefined
    })
    if (ended === undefined) throw new Error('no end')
    return ended
  }

  /** Waits until the session is idle and no process holds it. */
  async untilFree(name: string): Promise<void> {
    await this.until(`${name} is given back`, async () => (await this.row(name)).runner === null)
  }

  async until(what: string, test: () => Promise<boolean> | boolean): Promise<void> {
    const end = performance.now() + this.#waitMs
    while (!(await test())) {
      const now = performance.now()
      if (now > end) throw new NotInTime(`not in time: ${what}`)
      if (this.#isEnough()) this.#enoughAt ??= now + ENOUGH_MS
      if (this.#enoughAt !== null && now > this.#enoughAt) throw new Enough(what)
      await this.pause(LOOK_MS)
    }
  }

  /** Rejects when the rehearsal is aborted. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#signal })
  }

  /** Arms a planned fault and returns its id. */
  async inject(
    handle: ProcessHandle,
    verb: PlannedFault['verb'],
    fault: PlannedFault['fault'],
    name?: string,
  ): Promise<string> {
    const id = `${handle.name} ${fault} ${verb} ${name ?? ''} ${++this.#keys}`
    const stays = fault === 'hold' && name === undefined ? ({ stays: true } as const) : {}
    const planned: PlannedFault = {
      id,
      verb,
      fault,
      ...(name !== undefined && { sessionId: name }),
      ...stays,
    }
    await handle.ask({ what: 'inject', planned })
    this.#armed.set(id, handle)
    return id
  }

  /** Releases a held commit; a planned fault that has not matched yet is dropped. */
  release(id: string): void {
    this.#armed.get(id)?.order({ verb: 'release', planned: id })
    this.#armed.delete(id)
  }

  async rest(handle: ProcessHandle, isResting: boolean): Promise<void> {
    await handle.ask({ what: 'rest', isResting })
  }

  met(planned: string): void {
    this.#met.add(planned)
  }

  async untilMet(planned: string): Promise<void> {
    await this.until(`met: ${planned}`, () => this.#met.has(planned))
  }
}

export interface Telling {
  readonly lane?: 'user' | 'notification'
  readonly address?: string
  readonly picture?: string
}

/** A text of this many tokens that begins with its subject. */
export function long(about: string, tokens: number): string {
  return `${about}.${fillerOf(tokens * 4)}`
}

export function entryKindOf(value: JsonValue): string {
  const kind = isObject(value) ? value['kind'] : null
  return typeof kind === 'string' ? kind : JSON.stringify(value)
}

/** Undefined: not yet. */
function endOf(entries: readonly Entry[], mail: number): TurnEnd | undefined {
  const at = entries.findIndex((entry) => entry.kind === 'input' && entry.meta.mail === mail)
  if (at === -1) return undefined
  let isSeen = false
  for (const entry of entries.slice(at + 1)) {
    if (entry.kind === 'assistant' && entry.meta.upto > at) isSeen = true
    if (entry.kind === 'turn' && (isSeen || entry.meta.ended === 'failed')) return entry.meta.ended
  }
  return undefined
}
