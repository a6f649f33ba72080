import { NO_AUDIT } from '../../packages/core/src/audit/log/log.ts'
import { SessionTrail } from '../../packages/core/src/audit/session-audit-writer.ts'
import {
  type EntryNumber,
  operationId,
  runnerId,
  type SessionId,
  sessionId,
} from '../../packages/core/src/base/ids.ts'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import type { Acquisition } from '../../packages/core/src/session/actor.ts'
import { SessionViewReader } from '../../packages/core/src/session/session-view-reader.ts'
import type { Admit } from '../../packages/core/src/store/commits.ts'
import type { Lease } from '../../packages/core/src/store/contract.ts'
import { canonicalJson } from '../../packages/core/src/store/integrity/canonical.ts'
import { Chance } from './chance.ts'
import { donate } from './donor.ts'
import type { Laws } from './laws.ts'
import { handoffOfWords } from './scripted.ts'
import { isMessage, wordsIn } from './shadow.ts'
import type { SimProcess } from './sim-process.ts'
import type { World } from './world.ts'

/**
 * What operators do beside the conversation: erase entries, purge deleted sessions, import a
 * session from another store, attach files and drop unused ones, suspend the machine. All over the
 * same unreliable connection; each request is repeated until it is answered.
 */
export class WideWorkload {
  readonly #world: World
  readonly #laws: Laws
  readonly #client: SimProcess
  readonly #processes: readonly SimProcess[]
  #names = 0

  constructor(world: World, laws: Laws, client: SimProcess, processes: readonly SimProcess[]) {
    this.#world = world
    this.#laws = laws
    this.#client = client
    this.#processes = processes
  }

  plan(until: number): void {
    const { wide, timeline } = this.#world
    const acts = wide.between(4, 14)
    for (let index = 0; index < acts; index++) {
      timeline.plan(null, wide.between(200, until), () => this.#act())
    }
    // From a separate random source, so that recorded seeds still replay the same run.
    const { erasing } = this.#world
    for (let left = erasing.between(-3, 5); left > 0; left--) {
      timeline.plan(null, erasing.between(200, until), () => void this.#askToErase())
    }
    const sizes = new Chance(this.#world.seed ^ 0x2c1b3c6d)
    for (let left = sizes.between(-6, 4); left > 0; left--) {
      timeline.plan(null, sizes.between(200, until), () => void this.#sayMuch(sizes))
    }
    const chance = new Chance(this.#world.seed ^ 0x51ed270b)
    if (!chance.hits(0.4)) return
    const sleptMs = chance.pick([60_000, 8 * 3_600_000, 30 * 86_400_000])
    timeline.plan(null, chance.between(500, until), () => this.#suspend(sleptMs))
  }

  /** The whole machine sleeps: no monotonic clock moves, and every process wakes up later. */
  #suspend(sleptMs: number): void {
    this.#world.count('machine suspended')
    this.#world.say(`the machine sleeps for ${sleptMs} ms`)
    this.#world.sleptMs += sleptMs
    for (const process of [this.#client, ...this.#processes]) process.jumpClock(sleptMs)
  }

  #act(): void {
    const { wide } = this.#world
    const draw = wide.next()
    const open = [...this.#world.tables.sessions.values()].filter((row) => row.state === 'open')
    if (draw >= 0.92) this.#configure()
    if (open.length === 0) return
    const { id } = wide.pick(open)
    if (draw < 0.4) void this.#erase(id)
    else if (draw < 0.65) this.#attach(id)
    else if (draw < 0.73) this.#sweep()
    else if (draw < 0.87) void this.#import()
    else if (draw < 0.92) this.#delete(id)
  }

  /** Another system text and other limits, sometimes too large to fit. */
  #configure(): void {
    const { wide, composition } = this.#world
    this.#world.wanted = {
      limits: { ...composition.limits, inputTokens: wide.pick([600, 500, 400]) },
      body: { system: this.#laws.nextWord() },
      tokens: wide.between(10, 180),
    }
  }

  #name(what: string): string {
    return `${what}${++this.#names}`
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.timeline.plan(null, ms, resolve))
  }

  /** Repeats the request until it is answered, like a person who checks that it was done. */
  async #insist<Outcome>(ask: () => Promise<Outcome>): Promise<Outcome> {
    for (;;) {
      try {
        return await ask()
      } catch {
        await this.#pause(this.#world.wide.between(5, 200))
      }
    }
  }

  /** Acquires the session as any process would, erases, and releases it. */
  async #erase(id: SessionId): Promise<void> {
    const { tables, composition } = this.#world
    const runner = runnerId(this.#name('purge'))
    const { leaseMs } = composition.lease
    const about = { id: runner, boot: 'desk', process: this.#world.bear(), startedAt: 0, leaseMs }
    const { store } = this.#client
    await this.#insist(() => store.registerRunner(about))
    for (let tries = 0; tries < 12; tries++) {
      const fence = tables.session(id)?.fence ?? 0
      const holder = this.#name('h')
      const held = await store.acquire({ sessionId: id, runner, holder, fence }).catch(() => null)
      if (held?.kind === 'acquired') {
        await this.#eraseWith(held)
        break
      }
      await this.#pause(300)
    }
    await this.#insist(() => store.retireRunner({ runner }))
  }

  /** Writes audit lines like every holder. */
  async #eraseWith({ lease, abandoned }: Acquisition): Promise<void> {
    const { composition, wide } = this.#world
    const reader = new SessionViewReader(this.#client.store, lease)
    const trail = new SessionTrail(composition.audit?.() ?? NO_AUDIT, lease, abandoned)
    const times = wide.between(1, 3)
    for (let time = 0; time <= times; time++) {
      const seen = await this.#insist(() => reader.look())
      if (seen !== null) trail.looked(seen.view)
      if (seen === null || time === times) break
      await this.#eraseUnder(lease, lease.sessionId)
    }
    trail.lost('shutdown')
  }

  /** Often picks entries that a handoff covers, that have a file, or that were erased before. */
  #toErase(id: SessionId, chance: Chance): readonly EntryNumber[] {
    const { tables } = this.#world
    const covers = tables.session(id)?.covers ?? 0
    const said = (tables.entries.get(id) ?? []).filter(isMessage)
    if (said.length === 0) return []
    const count = chance.between(1, 3)
    const among = chance.pick([
      said,
      said.filter(({ number }) => number <= covers),
      said.filter(({ meta }) => 'blobs' in meta && meta.blobs.length > 0),
      said.filter(({ body }) => body === null),
    ])
    const named = Array.from({ length: count }, () =>
      chance.pick(among.length > 0 ? among : said),
    ).map(({ number }) => number)
    return [...new Set(named)]
  }

  /** By mail, as people do: the holder carries it out beside its other work. */
  async #askToErase(): Promise<void> {
    const { erasing, tables } = this.#world
    const open = [...tables.sessions.values()].filter((row) => row.state === 'open')
    if (open.length === 0) return
    const { id } = erasing.pick(open)
    const named = this.#toErase(id, erasing)
    if (named.length === 0) return
    const [first, last] = [Math.min(...named), Math.max(...named)]
    // A range includes handoffs.
    const range = Array.from({ length: last - first + 1 }, (_, index) => first + index)
    const entries = erasing.hits(0.3) ? range : named
    const key = this.#name('forget')
    const to = { sessionId: id }
    const lane = 'control'
    const request: Admit = {
      ...{ to, source: 'ann', key, lane, control: 'erase', body: { entries }, tokens: 0 },
    }
    const outcome = await this.#insist(() => this.#client.store.admit(request))
    this.#world.count(`erasure by mail ${outcome.kind}`)
    if (outcome.kind !== 'admitted' && outcome.kind !== 'duplicate') return
    const body = canonicalJson(request.body)
    this.#laws.acknowledged(`ann ${key}`, { sessionId: id, mail: outcome.mail, body })
    if (!erasing.hits(0.6)) return
    for (const each of this.#processes) each.runner?.wake(id)
  }

  async #eraseUnder(lease: Lease, id: SessionId): Promise<void> {
    const { wide, tables, composition } = this.#world
    const session = tables.session(id)
    const entries = this.#toErase(id, wide)
    if (session === undefined || entries.length === 0) return
    const operation = operationId(this.#name('erase'))
    const summary = `${id} ${operation} ${session.covers}`
    const told = tables
      .entriesOf(id)
      .filter(
        (each) =>
          isMessage(each) && each.number <= session.covers && !entries.includes(each.number),
      )
    const words = told.flatMap(({ body }) => wordsIn(body))
    const handoff = handoffOfWords('digest', summary, 0, words) as unknown as JsonValue
    const isCovered = Math.min(...entries) <= session.covers
    if (isCovered) this.#world.count('erased under a handoff')
    const outcome = await this.#client.store
      .eraseEntries({
        lease,
        tail: { number: session.tail, hash: session.tailHash },
        operation,
        entries,
        reason: 'asked',
        replacement: { body: handoff, tokens: wide.between(40, composition.limits.handoffTokens) },
      })
      .catch(() => null)
    if (outcome?.kind === 'replacement-needed') {
      this.#world.violate('I19', 'a replacement was given and is still wanted')
    }
  }

  #delete(id: SessionId): void {
    const operation = operationId(this.#name('wipe'))
    const { store } = this.#client
    const wipe = async () => {
      await this.#insist(() => store.deleteSession({ sessionId: id, operation, reason: 'asked' }))
      const piece = { sessionId: id, limit: this.#world.wide.between(1, 20) }
      while ((await this.#insist(() => store.eraseSome(piece))).kind === 'erased') {
        if (this.#world.tables.session(id)?.state === 'gone') break
        await this.#pause(this.#world.wide.between(1, 50))
      }
      this.#world.count('deleted whole')
    }
    void wipe()
  }

  /** One of a few files, so that several messages share one. */
  /** A message above the input bound: some fit whole, some only after a compaction, some never. */
  async #sayMuch(sizes: Chance): Promise<void> {
    const open = [...this.#world.tables.sessions.values()].filter((row) => row.state === 'open')
    if (open.length === 0) return
    const { id } = sizes.pick(open)
    const message = { role: 'user', parts: [{ type: 'text', text: this.#laws.nextWord() }] }
    const request: Admit = {
      ...{ to: { sessionId: id }, source: 'ann', key: this.#name('much'), lane: 'user' },
      body: { message, replyTo: { edge: 'edge', address: 'x' } } as JsonValue,
      tokens: sizes.between(700, 3_500),
    }
    const outcome = await this.#insist(() => this.#client.store.admit(request))
    if (outcome.kind !== 'admitted' && outcome.kind !== 'duplicate') return
    const { sessionId: to, mail } = outcome
    const body = canonicalJson(request.body)
    this.#laws.acknowledged(`ann ${request.key}`, { sessionId: to, mail, body })
  }

  #attach(id: SessionId): void {
    const { wide } = this.#world
    const word = this.#laws.nextWord()
    const bytes = new TextEncoder().encode(wide.hits(0.8) ? 'file' : 'other file')
    const { store } = this.#client
    const message = { role: 'user', parts: [{ type: 'text', text: word }] }
    const key = this.#name('file')
    const send = async (): Promise<void> => {
      const staged = await this.#insist(() =>
        store.stageBlob({ sessionId: id, mediaType: 'text/plain', bytes }),
      )
      if (staged.kind !== 'staged') return
      if (wide.hits(0.3)) return
      await this.#pause(wide.between(1, 400))
      const request: Admit = {
        to: { sessionId: id },
        source: 'ann',
        key,
        lane: 'user',
        body: { message, replyTo: { edge: 'edge', address: 'x' } } as JsonValue,
        tokens: wide.between(20, 100),
        blobs: [staged.hash],
      }
      const outcome = await this.#insist(() => store.admit(request))
      this.#world.count(`file ${outcome.kind}`)
      if (outcome.kind === 'blob-missing') {
        await send()
        return
      }
      if (outcome.kind !== 'admitted' && outcome.kind !== 'duplicate') return
      const { sessionId: to, mail } = outcome
      const body = canonicalJson(request.body)
      this.#laws.acknowledged(`ann ${key}`, { sessionId: to, mail, body })
    }
    void send()
  }

  #sweep(): void {
    const before = this.#client.wall() - this.#world.wide.between(0, 500)
    this.#client.store.dropStaged({ before }).then(
      ({ count }) => count > 0 && this.#world.count('staged file swept'),
      () => {},
    )
  }

  /** Imports a file of another store, twice, as after an answer that was lost. */
  async #import(): Promise<void> {
    const { wide } = this.#world
    const id = sessionId(this.#name('i'))
    const { lines, acks } = await donate(id, this.#world, () => this.#laws.nextWord())
    const { store } = this.#client
    const damaged = lines.map((line) => line.replace('"kind":"input"', '"kind":"inpuT"'))
    if (wide.hits(0.3)) {
      const refused = await this.#insist(() => store.importSession(damaged))
      this.#world.count(`import ${refused.kind}`)
      if (refused.kind === 'imported') this.#world.violate('I19', 'a damaged file was imported')
    }
    const times = wide.between(1, 2)
    for (let time = 0; time < times; time++) {
      const outcome = await this.#insist(() => store.importSession(lines))
      this.#world.count(`import ${outcome.kind}`)
      if (outcome.kind === 'refused') {
        this.#world.violate('I19', `a sound file was refused: ${outcome.problem}`)
        return
      }
    }
    for (const [key, ack] of acks) this.#laws.acknowledged(key, ack)
  }
}
