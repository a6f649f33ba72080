import {
  type EntryNumber,
  entryNumber,
  operationId,
  type SessionId,
  sessionId,
} from '../../packages/core/src/base/ids.ts'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import { eraseDeleted } from '../../packages/core/src/session/erase-session.ts'
import type { Admit } from '../../packages/core/src/store/commits.ts'
import { canonicalJson } from '../../packages/core/src/store/integrity/canonical.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { MemoryTables } from '../../packages/core/src/store/memory/tables.ts'
import type { RecordEntries } from '../../packages/core/src/store/record-commits.ts'
import type { SessionRow } from '../../packages/core/src/store/tables/rows.ts'
import type { Laws } from './laws.ts'
import { isMessage } from './shadow.ts'
import type { SimProcess } from './sim-process.ts'
import type { World } from './world.ts'

/**
 * What people and programs do to sessions that share entries: fork them, talk in the forks, erase
 * shared entries, delete some sessions, import copies from another store, and record turns of other
 * programs. All over the same unreliable connection; each request is repeated until it is answered.
 */
export class ForkWorkload {
  readonly #world: World
  readonly #laws: Laws
  readonly #client: SimProcess
  readonly #processes: readonly SimProcess[]
  /** The words of each acknowledged turn or record, by entry. */
  readonly #recorded: { sessionId: SessionId; entry: number; word: string }[] = []
  #names = 0

  constructor(world: World, laws: Laws, client: SimProcess, processes: readonly SimProcess[]) {
    this.#world = world
    this.#laws = laws
    this.#client = client
    this.#processes = processes
  }

  plan(until: number): void {
    const { forking, timeline } = this.#world
    const acts = forking.between(6, 22)
    for (let index = 0; index < acts; index++) {
      timeline.plan(null, forking.between(200, until), () => this.#act())
    }
  }

  #act(): void {
    const { forking, tables } = this.#world
    const draw = forking.next()
    const open = [...tables.sessions.values()].filter((row) => row.state === 'open')
    if (open.length === 0) return
    const row = forking.pick(open)
    const forks = open.filter(({ origin }) => origin !== null)
    if (draw < 0.3) void this.#fork(row)
    else if (draw < 0.5) void this.#say(forks.length > 0 ? forking.pick(forks) : row)
    else if (draw < 0.62) void this.#erase(forks.length > 0 ? forking.pick(forks) : row)
    else if (draw < 0.7) void this.#delete(row)
    else if (draw < 0.8) void this.#importCopy(row)
    else void this.#record(row)
  }

  #name(what: string): string {
    return `${what}${++this.#names}`
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.timeline.plan(null, ms, resolve))
  }

  async #insist<Outcome>(ask: () => Promise<Outcome>): Promise<Outcome> {
    for (;;) {
      try {
        return await ask()
      } catch {
        await this.#pause(this.#world.forking.between(5, 200))
      }
    }
  }

  /** Forks anywhere: at the end, within a turn, under a handoff. One key makes one fork. */
  async #fork({ id: from, tail, covers }: SessionRow): Promise<void> {
    const { forking } = this.#world
    if (tail === 0 || this.#world.tables.sessions.size > 9) return
    const least = covers > 0 && forking.hits(0.5) ? covers : 1
    const at = entryNumber(forking.hits(0.3) ? tail : forking.between(least, tail))
    const id = sessionId(this.#name('f'))
    const key = this.#name('fork')
    const operation = operationId(key)
    const request = { id, from, at, source: 'ann', key, operation }
    const { store } = this.#client
    const first = await this.#insist(() => store.fork(request))
    this.#world.count(`fork ${first.kind}`)
    if (first.kind !== 'forked' && first.kind !== 'duplicate') return
    const again = { ...request, id: sessionId(this.#name('f')) }
    const second = await this.#insist(() => store.fork(again))
    if (second.kind !== 'duplicate' || second.sessionId !== id) {
      this.#world.violate('I4', `the same fork again was ${second.kind}`)
    }
    const other = await this.#insist(() => store.fork({ ...again, at: entryNumber(at + 1) }))
    if (other.kind !== 'conflict') this.#world.violate('I4', `another fork was ${other.kind}`)
    const row = this.#world.tables.session(id)
    if (row !== undefined && forking.hits(0.7)) await this.#say(row)
  }

  async #say({ id }: SessionRow): Promise<void> {
    const { forking } = this.#world
    const asks = forking.next()
    if (asks < 0.1) await this.#admit(id, { lane: 'control', control: 'compact', body: {} })
    else if (asks < 0.2) await this.#admit(id, { lane: 'control', control: 'revert', body: {} })
    else {
      const message = { role: 'user', parts: [{ type: 'text', text: this.#laws.nextWord() }] }
      const body = { message, replyTo: { edge: 'edge', address: 'x' } } as JsonValue
      await this.#admit(id, { lane: 'user', body, tokens: forking.between(20, 300) })
    }
  }

  async #admit(id: SessionId, mail: Pick<Admit, 'lane' | 'body'> & Partial<Admit>): Promise<void> {
    const key = this.#name('said')
    const request: Admit = { tokens: 0, ...mail, to: { sessionId: id }, source: 'ann', key }
    const outcome = await this.#insist(() => this.#client.store.admit(request))
    if (outcome.kind !== 'admitted' && outcome.kind !== 'duplicate') return
    const body = canonicalJson(request.body)
    this.#laws.acknowledged(`ann ${key}`, { sessionId: id, mail: outcome.mail, body })
    if (!this.#world.forking.hits(0.6)) return
    for (const each of this.#processes) each.runner?.wake(id)
  }

  /** Requested in any session that reads the entries, carried out by the one that stores them. */
  async #erase({ id }: SessionRow): Promise<void> {
    const { forking, tables } = this.#world
    const shown = tables.entriesOf(id).filter(isMessage)
    if (shown.length === 0) return
    const number = forking.pick(shown).number
    const keeper = this.#laws.shadows.get(id)?.keeperOf(number)
    if (keeper === undefined) return
    const entries = [number]
    if (!keeper.isDeleted) {
      const body = { entries } as JsonValue
      await this.#admit(keeper.id as SessionId, { lane: 'control', control: 'erase', body })
      return
    }
    const operation = operationId(this.#name('retained'))
    const request = { sessionId: keeper.id as SessionId, entries, operation, reason: 'asked' }
    const outcome = await this.#insist(() => this.#client.store.eraseRetained(request))
    this.#world.count(`erased from a deleted session: ${outcome.kind}`)
  }

  async #delete({ id }: SessionRow): Promise<void> {
    const { forking, tables } = this.#world
    if ([...tables.sessions.values()].filter((row) => row.state === 'open').length < 2) return
    const forks = forking.pick(['refuse', 'keep', 'keep', 'purge'] as const)
    const request = { sessionId: id, operation: operationId(this.#name('drop')), reason: 'asked' }
    const { store } = this.#client
    const outcome = await this.#insist(() => store.deleteSession({ ...request, forks }))
    this.#world.count(`deletion with forks: ${outcome.kind}`)
    if (outcome.kind !== 'done' || forking.hits(0.2)) return
    for (const each of outcome.sessions.toReversed()) {
      await this.#insist(() => eraseDeleted(store, each))
    }
  }

  /** Forked in another store with the same sessions, and imported here some time later. */
  async #importCopy({ id: from, tail }: SessionRow): Promise<void> {
    const { forking, tables } = this.#world
    if (tail === 0 || tables.sessions.size > 9) return
    const id = sessionId(this.#name('c'))
    const elsewhere = openMemoryStore({ tables: copyOf(tables) })
    const at = entryNumber(forking.between(1, tail))
    const operation = operationId(`elsewhere-${id}`)
    const forked = await elsewhere.fork({ id, from, at, source: 'bob', key: id, operation })
    if (forked.kind !== 'forked') return
    const lines: string[] = []
    for await (const line of elsewhere.exportSession(id)) lines.push(line)
    await this.#pause(forking.between(1, 4_000))
    const outcome = await this.#insist(() => this.#client.store.importSession(lines))
    this.#world.count(`copy ${outcome.kind}`)
    if (outcome.kind === 'refused') {
      this.#world.violate('I19', `a sound copy was refused: ${outcome.problem}`)
    }
  }

  /**
   * A turn of another program, or records that only it reads; repeated under its key, and once with
   * another body.
   */
  async #record({ id, tail }: SessionRow): Promise<void> {
    const { forking } = this.#world
    const word = this.#laws.nextWord()
    const key = this.#name('record')
    const what = forking.hits(0.6) ? this.#turn(word) : this.#records(word)
    const after: { after?: EntryNumber } = forking.hits(0.3) ? { after: tail } : {}
    const operation = operationId(key)
    const request: RecordEntries = { sessionId: id, source: 'loop', key, operation, what, ...after }
    const { store } = this.#client
    const first = await this.#insist(() => store.recordEntries(request))
    this.#world.count(`record ${first.kind}`)
    if (first.kind !== 'recorded' && first.kind !== 'duplicate') return
    this.#recorded.push({ sessionId: id, entry: first.entry, word })
    const second = await this.#insist(() => store.recordEntries(request))
    if (second.kind !== 'duplicate' || second.entry !== first.entry) {
      this.#world.violate('I4', `the same record again was ${second.kind}`)
    }
    const forged = { ...request, what: this.#records('forged') }
    const third = await this.#insist(() => store.recordEntries(forged))
    if (third.kind !== 'conflict') this.#world.violate('I4', `another record was ${third.kind}`)
  }

  #turn(word: string): RecordEntries['what'] {
    const { forking } = this.#world
    const tokens = () => forking.between(10, 200)
    const said = (role: string, text: string) => ({ role, parts: [{ type: 'text', text }] })
    const call = { type: 'tool-call', id: `${word}c`, name: 'send', input: null }
    const asks = { role: 'assistant', parts: [call] } as unknown as JsonValue
    const message = said('user', word) as unknown as JsonValue
    const answer = said('assistant', this.#laws.nextWord()) as unknown as JsonValue
    const withCall = [
      { kind: 'assistant', calls: [call.id], body: asks, tokens: tokens() },
      { kind: 'result', call: call.id, outcome: 'ok', body: `result:${call.id}`, tokens: tokens() },
    ] as const
    return {
      kind: 'turn',
      steps: [
        { kind: 'input', body: { message }, tokens: tokens() },
        ...(forking.hits(0.5) ? withCall : []),
        { kind: 'assistant', calls: [], body: answer, tokens: tokens() },
      ],
    }
  }

  #records(word: string): RecordEntries['what'] {
    return { kind: 'records', bodies: [{ word }, { more: word.length }] }
  }

  /** Forks read their prefix, records exist once, and no deletion leaves rows behind. */
  async checkAtRest(): Promise<void> {
    const { tables } = this.#world
    for (const shadow of this.#laws.shadows.values()) {
      this.#laws.forks.readsItsPrefix(shadow)
      if (!shadow.isDeleted && shadow.owes.size > 0) {
        this.#world.violate(
          'I39',
          `${shadow.id} never named that it lost ${[...shadow.owes].join()}`,
        )
      }
    }
    for (const { sessionId: id, entry, word } of this.#recorded) {
      const shadow = this.#laws.shadows.get(id)
      if (shadow === undefined || shadow.isDeleted) continue
      const kept = shadow.entries[entry - 1]?.entry.kind
      const told = shadow.entries.filter(({ entry: { kind, body } }) => {
        return (kind === 'input' || kind === 'record') && body?.includes(`"${word}"`)
      })
      if ((kept !== 'turn' && kept !== 'record') || told.length > 1) {
        this.#world.violate('I1', `what ${id} recorded at ${entry} is there ${told.length} times`)
      }
    }
    const store = openMemoryStore({ tables, rules: this.#world.composition.rules })
    for (const { id, state } of [...tables.sessions.values()]) {
      if (state === 'erasing') await eraseDeleted(store, id)
    }
    this.#laws.forks.nothingUnread()
  }
}

/** Another store with the same rows; the two are independent from here on. */
function copyOf(tables: MemoryTables): MemoryTables {
  let salts = 0
  const copy = new MemoryTables({ clock: () => 0, random: () => `elsewhere ${salts++}` })
  for (const [id, row] of tables.sessions) copy.sessions.set(id, row)
  for (const [id, rows] of tables.entries) copy.entries.set(id, [...rows])
  for (const [id, rows] of tables.mails) copy.mails.set(id, [...rows])
  for (const [name, row] of tables.blobs) copy.blobs.set(name, row)
  return copy
}
