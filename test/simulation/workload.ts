import {
  mailNumber,
  operationId,
  type SessionId,
  sessionId,
} from '../../packages/core/src/base/ids.ts'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import type { Admit } from '../../packages/core/src/store/commits.ts'
import { canonicalJson } from '../../packages/core/src/store/integrity/canonical.ts'
import type { BusyPolicy, Route } from '../../packages/core/src/store/tables/rows.ts'
import type { Laws } from './laws.ts'
import type { SimProcess } from './sim-process.ts'
import type { World } from './world.ts'

/** What people, agents, watchers and hosts do to a session, drawn from the seed. */
const POLICIES = ['steer', 'steer', 'queue', 'interrupt', 'collect'] as const

export class Workload {
  readonly #world: World
  readonly #laws: Laws
  readonly #client: SimProcess
  readonly #processes: readonly SimProcess[]
  readonly #sessions: SessionId[] = []
  readonly #routes: Route[] = []
  readonly #sent: Admit[] = []
  #keys = 0

  constructor(world: World, laws: Laws, client: SimProcess, processes: readonly SimProcess[]) {
    this.#world = world
    this.#laws = laws
    this.#client = client
    this.#processes = processes
  }

  /** Plans everything that will happen until `until`. */
  plan(until: number): void {
    const { chance, timeline } = this.#world
    const sessions = chance.between(1, 2)
    for (let index = 0; index < sessions; index++) this.#create(index)
    const acts = chance.between(10, 45)
    for (let index = 0; index < acts; index++) {
      timeline.plan(null, chance.between(10, until), () => this.#act())
    }
    const faults = Math.round(chance.between(0, 8) * this.#world.roughness)
    for (let index = 0; index < faults; index++) {
      timeline.plan(null, chance.between(10, until), () => this.#harm())
    }
    if (chance.hits(0.04)) timeline.plan(null, chance.between(500, until), () => this.#burst())
  }

  #create(index: number): void {
    const { chance, composition } = this.#world
    const id = sessionId(`s${index}`)
    const route = { agent: 'main', channel: 'chat', address: `a${index}` }
    this.#sessions.push(id)
    this.#routes.push(route)
    const request = {
      id,
      agent: 'main',
      limits: composition.limits,
      policy: chance.pick(POLICIES) as BusyPolicy,
      route,
      operation: operationId(`create${index}`),
    }
    const again = () => {
      this.#client.store.createSession(request).catch(() => this.#later(100, again))
    }
    again()
  }

  #later(delay: number, run: () => void): void {
    this.#world.timeline.plan(null, delay, run)
  }

  #act(): void {
    const { chance } = this.#world
    const draw = chance.next()
    const id = chance.pick(this.#sessions)
    if (draw < 0.5) this.#say(id)
    else if (draw < 0.62) this.#notify(id)
    else if (draw < 0.72) this.#control(id, 'stop', null)
    else if (draw < 0.79) {
      this.#control(id, 'compact', chance.hits(0.3) ? { focus: chance.pick(['a', 'b']) } : {})
    } else if (draw < 0.84) this.#control(id, 'revert', {})
    else if (draw < 0.88) this.#pin(id)
    else if (draw < 0.91) this.#control(id, 'policy', { policy: chance.pick(POLICIES) })
    else if (draw < 0.94) this.#withdraw(id)
    else if (draw < 0.955) this.#startAfresh()
    else if (draw < 0.96) this.#delete(id)
    else this.#repeat()
  }

  #say(id: SessionId, tokens = this.#tokens()): void {
    const { chance } = this.#world
    const word = this.#laws.nextWord()
    const index = this.#sessions.indexOf(id)
    const route = this.#routes[index]
    if (chance.hits(0.015)) {
      this.#laws.poison.add(`user ${word}`)
      this.#world.say(`poison ${word}`)
    }
    const message = { role: 'user', parts: [{ type: 'text', text: word }] }
    this.#admit({
      to: route !== undefined && chance.hits(0.5) ? { route } : { sessionId: id },
      source: chance.pick(['ann', 'bob']),
      key: `k${this.#keys++}`,
      lane: 'user',
      body: { message, replyTo: { edge: 'edge', address: chance.pick(['x', 'y']) } } as JsonValue,
      tokens,
    })
  }

  #tokens(): number {
    const { chance } = this.#world
    return chance.hits(0.04) ? chance.between(700, 6_000) : chance.between(20, 250)
  }

  #notify(id: SessionId): void {
    const { chance } = this.#world
    const count = chance.hits(0.3) ? chance.between(3, 8) : 1
    for (let index = 0; index < count; index++) {
      const word = this.#laws.nextWord()
      const body = { message: { role: 'user', parts: [{ type: 'text', text: word }] } }
      this.#admit({
        to: { sessionId: id },
        source: 'watch',
        key: `k${this.#keys++}`,
        lane: 'notification',
        body: body as JsonValue,
        tokens: chance.between(10, 120),
      })
    }
  }

  #control(id: SessionId, control: string, body: JsonValue): void {
    this.#admit({
      to: { sessionId: id },
      source: 'ann',
      key: `k${this.#keys++}`,
      lane: 'control',
      control,
      body,
      tokens: 0,
    })
  }

  #pin(id: SessionId): void {
    const { chance } = this.#world
    const name = chance.pick(['p1', 'p2', 'p3'])
    const text = chance.hits(0.8) ? { text: this.#laws.nextWord() } : {}
    this.#admit({
      to: { sessionId: id },
      source: 'ann',
      key: `k${this.#keys++}`,
      lane: 'control',
      control: 'pin',
      body: { name, ...text },
      tokens: chance.between(10, 90),
    })
  }

  #burst(): void {
    const id = this.#world.chance.pick(this.#sessions)
    for (let index = 0; index < 110; index++) this.#say(id, 5)
  }

  /** The same request again, or the same key with another body. */
  #repeat(): void {
    const { chance } = this.#world
    if (this.#sent.length === 0) return
    const request = chance.pick(this.#sent)
    this.#world.count('repeated delivery')
    if (chance.hits(0.7) || !this.#laws.acks.has(idOf(request))) {
      this.#admit(request, 'again')
      return
    }
    const other = { ...request, body: { message: 'forged' } }
    this.#client.store.admit(other).then(
      (outcome) => {
        const isRefused = ['conflict', 'gone', 'full', 'unknown'].includes(outcome.kind)
        if (!isRefused) {
          this.#world.violate('I4', `another body under a known key was ${outcome.kind}`)
        }
      },
      () => {},
    )
  }

  #admit(request: Admit, which: 'new' | 'again' = 'new'): void {
    const { chance, tables } = this.#world
    if (which === 'new') this.#sent.push(request)
    const body = canonicalJson(request.body)
    const again = () => this.#later(chance.between(5, 300), () => this.#admit(request, 'again'))
    this.#client.store.admit(request).then(
      (outcome) => {
        if (outcome.kind !== 'admitted' && outcome.kind !== 'duplicate') return
        const { mail } = outcome
        this.#laws.acknowledged(idOf(request), { sessionId: outcome.sessionId, mail, body })
        const waiting = tables.session(outcome.sessionId)?.pending.user ?? 0
        if (waiting > 100) this.#world.count('buffer > 100')
        if (chance.hits(0.6))
          for (const each of this.#processes) each.runner?.wake(outcome.sessionId)
      },
      // Unknown or busy: the sender tries again under the same key.
      again,
    )
    if (chance.hits(0.05)) again()
  }

  #withdraw(id: SessionId): void {
    const mails = this.#world.tables.mails.get(id) ?? []
    if (mails.length === 0) return
    const mail = mailNumber(this.#world.chance.between(Math.max(1, mails.length - 3), mails.length))
    this.#client.store.withdraw({ sessionId: id, mail }).then(
      (outcome) => {
        this.#world.count(`withdraw ${outcome.kind}`)
        if (outcome.kind === 'withdrawn') this.#laws.withdrawn(id, mail)
      },
      () => {},
    )
  }

  #delete(id: SessionId): void {
    const operation = operationId(`delete${this.#keys++}`)
    this.#client.store.deleteSession({ sessionId: id, operation, reason: 'asked' }).catch(() => {})
  }

  #startAfresh(): void {
    const { chance, tables, composition } = this.#world
    if (this.#sessions.length >= 4) return
    const index = chance.between(0, this.#routes.length - 1)
    const route = this.#routes[index]
    if (route === undefined) return
    const id = sessionId(`n${this.#keys++}`)
    const request = {
      source: 'ann',
      key: `k${this.#keys++}`,
      route,
      version: tables.route(route)?.version ?? 0,
      id,
      limits: composition.limits,
      policy: 'steer' as const,
      operation: operationId(`afresh${id}`),
    }
    const attempt = (left: number) => {
      this.#client.store.startAfresh(request).then(
        (outcome) => {
          this.#world.count(`start afresh ${outcome.kind}`)
          if (outcome.kind !== 'started' && outcome.kind !== 'duplicate') return
          if (!this.#sessions.includes(outcome.sessionId)) this.#sessions.push(outcome.sessionId)
        },
        () => left > 0 && this.#later(50, () => attempt(left - 1)),
      )
    }
    attempt(5)
  }

  #harm(): void {
    const { chance } = this.#world
    const victim = chance.pick(this.#processes)
    const draw = chance.next()
    if (draw < 0.35) victim.crash('at random')
    else if (draw < 0.65) {
      victim.pause(chance.hits(0.5) ? chance.between(50, 2_000) : chance.between(2_500, 8_000))
      this.#world.count('pause')
    } else if (draw < 0.8) victim.restart()
    else if (this.#world.hasBadClocks) {
      victim.jumpClock(chance.pick([-3_600_000, 3_600_000, -20_000, 20_000, 86_400_000 * 3650]))
      this.#world.count('clock jump')
    }
  }
}

function idOf({ source, key }: Admit): string {
  return `${source} ${key}`
}
