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
  const answer = (verb: string) => async () => answers[verb] ?? { kind: 'done' }
  const verbs = ['registerRunner', 'renew', 'acquire', 'deliver', 'commitReply', 'commitResults']
  const store = Object.fromEntries(verbs.map((verb) => [verb, answer(verb)])) as unknown as Store
  return { observer, facts, time, store: observer.over(store) }
}
