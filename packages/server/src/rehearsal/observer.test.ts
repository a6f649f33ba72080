import { describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { type RunnerId, runnerId, sessionId } from '#core/base/ids'
import type { Store } from '#core/store/contract'
import { type Fact, Observer } from './observer.ts'

const runner: RunnerId = runnerId('someone')
const id = sessionId('one')

describe('Observer', () => {
  it('reports the runner id of the process', async () => {
    const { store, facts } = watched({})
    const row = { id: runner, boot: 'b', process: 1, startedAt: 0, leaseMs: 1_000 }
    await store.registerRunner(row)
    expect(facts).toEqual([{ what: 'runner', runner }])
  })

  it('reports a session that was acquired with an outdated fence, and no other', async () => {
    const lease = { sessionId: id, runner, holder: 'h', fence: 3 }
    const { store, facts } = watched({ acquire: { kind: 'acquired', lease } })
    await store.acquire({ sessionId: id, runner, holder: 'h', fence: 2 })
    expect(facts).toEqual([])
    await store.acquire({ sessionId: id, runner, holder: 'h', fence: 1 })
    expect(facts).toEqual([
      { what: 'old-picture', sessionId: id, text: 'asked under fence 1, got 3' },
    ])
  })

  it('reports a commit that was refused although no other process held the lease', async () => {
    const { store, facts } = watched({ deliver: { kind: 'superseded', by: 'tail' } })
    await store.deliver({ lease: { sessionId: id } } as never)
    expect(facts).toEqual([{ what: 'overtaken', sessionId: id, verb: 'deliver' }])
  })

  it('reports a refused commit of each verb, and none that another process or nothing refused', async () => {
    const by = (kind: string, why?: string) => ({ kind, ...(why !== undefined && { by: why }) })
    const answers = { deliver: by('superseded', 'fence'), commitReply: by('superseded', 'tail') }
    const { store, facts } = watched({ ...answers, commitResults: by('superseded', 'tail') })
    const request = { lease: { sessionId: id } } as never
    expect(await store.deliver(request)).toEqual({ kind: 'superseded', by: 'fence' })
    await store.commitReply(request)
    await store.commitResults(request)
    expect(facts).toEqual([
      { what: 'overtaken', sessionId: id, verb: 'commitReply' },
      { what: 'overtaken', sessionId: id, verb: 'commitResults' },
    ])
    const other = watched({ deliver: by('committed', 'tail') })
    await other.store.deliver(request)
    expect(other.facts).toEqual([])
  })

  it('reports no session that another process holds', async () => {
    const { store, facts } = watched({ acquire: { kind: 'held' } })
    expect(await store.acquire({ sessionId: id, runner, holder: 'h', fence: 2 })).toEqual({
      kind: 'held',
    })
    expect(facts).toEqual([])
  })

  it('reports a renewal that was late when it was sent or answered, from six tenths on', async () => {
    const { store, facts, time, slow } = watched({ renew: { kind: 'renewed', beat: 2 } })
    await store.registerRunner({ id: runner, boot: 'b', process: 1, startedAt: 0, leaseMs: 1_000 })
    facts.length = 0
    time.ms = 600
    await store.renew({ runner })
    expect(facts).toEqual([])
    time.ms = 1_201
    await store.renew({ runner })
    const late = { what: 'late', runner }
    expect(facts.splice(0)).toEqual([late, late])
    slow.ms = 601
    await store.renew({ runner })
    expect(facts).toEqual([late])
  })

  it('counts no renewal that was refused', async () => {
    const { observer, store, time } = watched({ renew: { kind: 'lost' } })
    time.ms = 900
    expect(await store.renew({ runner })).toEqual({ kind: 'lost' })
    time.ms = 1_100
    expect(observer.overdueMs).toBe(100)
  })

  it('counts a lease from the moment when it was asked for', async () => {
    const { observer, store, time, slow } = watched({})
    time.ms = 100
    slow.ms = 50
    await store.registerRunner({ id: runner, boot: 'b', process: 1, startedAt: 0, leaseMs: 1_000 })
    time.ms = 1_101
    expect(observer.overdueMs).toBe(1)
  })

  it('measures for how long a lease has been expired', async () => {
    const { observer, store, time } = watched({ renew: { kind: 'renewed', beat: 2 } })
    time.ms = 900
    await store.renew({ runner })
    time.ms = 1_900
    expect(observer.overdueMs).toBe(0)
    time.ms = 1_930
    expect(observer.overdueMs).toBe(30)
  })
})

/** A store that gives these answers and no others. */
function watched(answers: { readonly [verb: string]: object }) {
  const facts: Fact[] = []
  const time = { ms: 0 }
  const clock = { ...systemClock, monotonic: () => time.ms }
  const observer = new Observer({ leaseMs: 1_000, clock, report: (fact) => facts.push(fact) })
  const slow = { ms: 0 }
  const answer = (verb: string) => async () => {
    time.ms += slow.ms
    return answers[verb] ?? { kind: 'done' }
  }
  const verbs = ['registerRunner', 'renew', 'acquire', 'deliver', 'commitReply', 'commitResults']
  const store = Object.fromEntries(verbs.map((verb) => [verb, answer(verb)])) as unknown as Store
  return { observer, facts, time, slow, store: observer.over(store) }
}
