import { describe, expect, it } from 'vitest'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { AgentGone, type ProcessHandle } from './process-handle.ts'
import { entryKindOf, long, NotInTime, Stage } from './stage.ts'

type Parts = ConstructorParameters<typeof Stage>[0]

function emptyStage() {
  const offences: string[] = []
  const findings = { broken: (law: string, offence: string) => offences.push(`${law}: ${offence}`) }
  return { stage: new Stage({ findings } as unknown as Parts), offences }
}

/** A process whose start takes as long as this promise. */
const handle = (starting: Promise<void>) =>
  ({ name: 'first', start: () => starting }) as unknown as ProcessHandle

it('an act ends when the processes that it restarts run again', async () => {
  const { stage, offences } = emptyStage()
  const starting = Promise.withResolvers<void>()
  let isOver = false
  const act = stage.play([async () => stage.restart(handle(starting.promise))]).then(() => {
    isOver = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  starting.resolve()
  await act
  expect(offences).toEqual([])
})

it('a process that does not start again, and a scene that fails, are offences', async () => {
  const { stage, offences } = emptyStage()
  const failing = async function failing() {
    throw new Error('it rained')
  }
  const restarting = async () =>
    stage.restart(handle(Promise.reject(new Error('it does not start'))))
  await stage.play([failing, restarting])
  expect(offences).toEqual([
    'played: failing: it rained',
    'played: first: Error: it does not start',
  ])
})

describe('a scene', () => {
  /** Two processes that answer with these values, one after another, and a store with one session. */
  async function open({
    answers = [] as readonly unknown[],
    ready = [true, true] as readonly boolean[],
    waitMs = 60_000,
    isEnough = (): boolean => false,
  } = {}) {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    const asked: unknown[] = []
    const left = [...answers]
    const [first, second] = ready.map((isReady, at) => ({
      ...{ name: `p${at + 1}`, isReady },
      ask: async (question: object) => {
        asked.push([`p${at + 1}`, question])
        const answer = left.shift()
        if (answer instanceof Error) throw answer
        return answer
      },
      order: (order: object) => void asked.push([`p${at + 1}`, order]),
    }))
    const offences: string[] = []
    const findings = { broken: (law: string, what: string) => offences.push(`${law}: ${what}`) }
    const { signal } = new AbortController()
    const parts = { first, second, store, findings, waitMs, isEnough, signal, folder: '/f' }
    const stage = new Stage({ ...parts, model: {} } as unknown as Parts)
    return { stage, store, fixture, asked, offences }
  }
  const S = { sessionId: 'a' }

  it('asks the first process that runs, and another one when that is gone', async () => {
    const gone = new AgentGone('p1')
    const { stage, asked } = await open({ answers: [gone, { kind: 'created' }] })
    expect(await stage.open('a')).toBe('a')
    const question = { what: 'create', ...S }
    expect(asked).toEqual([
      ['p1', question],
      ['p2', question],
    ])
    const other = await open({ answers: [{ kind: 'created' }], ready: [false, true] })
    await other.stage.open('a')
    expect(other.asked).toEqual([['p2', question]])
    const none = await open({ ready: [false, false], waitMs: 0 })
    await expect(none.stage.open('a')).rejects.toThrow('nobody was there to create')
    const failing = await open({ answers: [new Error('other')] })
    await expect(failing.stage.open('a')).rejects.toThrow('other')
  })

  it('opens a session that is new, and says what it is otherwise', async () => {
    const { stage } = await open({ answers: [{ kind: 'exists' }, null] })
    await expect(stage.open('a')).rejects.toThrow('a is exists')
    await expect(stage.open('a')).rejects.toThrow('a is null')
    expect([entryKindOf({ kind: 'x' }), entryKindOf({ kind: 5 }), entryKindOf('y')]).toEqual([
      ...['x', '{"kind":5}', '"y"'],
    ])
  })

  it('says something under a key of its own, and finds a place that was given twice', async () => {
    const admitted = { kind: 'admitted', mail: 3 }
    const { stage, asked, offences } = await open({
      answers: [admitted, { kind: 'admitted', mail: 4 }, admitted, { kind: 'full' }],
    })
    expect(await stage.say('a', 'One.')).toBe(3)
    expect(await stage.say('a', 'Two.', { lane: 'notification', address: 'x' })).toBe(4)
    expect(offences).toEqual([])
    expect(await stage.say('a', 'Three.')).toBe(3)
    expect(offences).toEqual(['mailed: two were acknowledged by a as mail 3'])
    await expect(stage.say('a', 'Four.')).rejects.toThrow('not admitted: {"kind":"full"}')
    const admit = { what: 'admit', ...S }
    expect(asked.slice(0, 2)).toEqual([
      ['p1', { ...admit, source: 'user-a', key: 'a-1', lane: 'user', text: 'One.' }],
      [
        'p1',
        {
          ...{ ...admit, source: 'notification-a', key: 'a-2', lane: 'notification' },
          ...{ text: 'Two.', address: 'x' },
        },
      ],
    ])
  })

  it('stops, acts and takes back under keys of its own', async () => {
    const { stage, asked } = await open({ answers: [null, 5, { kind: 'done' }] })
    await stage.stop('a')
    expect(await stage.do('a', 'compact', { focus: 'x' })).toBe(5)
    expect(await stage.withdraw('a', 7 as never)).toBe('done')
    expect(asked).toEqual([
      ['p1', { what: 'stop', ...S, source: 'person-a', key: 'stop-1' }],
      [
        'p1',
        {
          ...{ what: 'do', ...S, action: 'compact' },
          request: { source: 'person-a', key: 'compact-2', focus: 'x' },
        },
      ],
      ['p1', { what: 'do', ...S, action: 'withdraw', request: 7 }],
    ])
  })

  it('arms a fault in one process and releases it there, once', async () => {
    const { stage, asked } = await open()
    const id = await stage.inject(stage.second, 'admit', 'lose', 'a')
    expect(id).toBe('p2 lose admit a 1')
    expect(await stage.inject(stage.first, 'commitReply', 'hold')).toBe('p1 hold commitReply  2')
    expect(await stage.inject(stage.first, 'commitReply', 'hold', 'a')).toBe(
      'p1 hold commitReply a 3',
    )
    stage.release(id)
    stage.release(id)
    await stage.rest(stage.first, true)
    const planned = { id, verb: 'admit', fault: 'lose', sessionId: 'a' }
    const held = { verb: 'commitReply', fault: 'hold' }
    expect(asked).toEqual([
      ['p2', { what: 'inject', planned }],
      ['p1', { what: 'inject', planned: { ...held, id: 'p1 hold commitReply  2', stays: true } }],
      [
        'p1',
        { what: 'inject', planned: { ...held, id: 'p1 hold commitReply a 3', sessionId: 'a' } },
      ],
      ['p2', { verb: 'release', planned: id }],
      ['p1', { what: 'rest', isResting: true }],
    ])
    stage.met('x')
    await stage.untilMet('x')
    await stage.play([])
    expect(asked.slice(5)).toEqual([
      ['p1', { verb: 'release', planned: 'p1 hold commitReply  2' }],
      ['p1', { verb: 'release', planned: 'p1 hold commitReply a 3' }],
    ])
  })

  it('waits for the end of the turn that saw a message', async () => {
    const { stage, fixture, store } = await open({ waitMs: 0 })
    const { id } = fixture
    await expect(stage.row('none')).rejects.toThrow('there is no none')
    await fixture.hear('One.')
    await expect(stage.ended(id, 1 as never)).rejects.toThrow(
      `not in time: mail 1 of ${id} is answered`,
    )
    await stage.untilTurn(id)
    await fixture.reply('Yes.', { ends: 'answered' })
    expect(await stage.ended(id, 1 as never)).toBe('answered')
    await fixture.hear('Two.')
    await fixture.reply('No.', { ends: 'stopped' })
    expect(await stage.ended(id, 2 as never)).toBe('stopped')
    expect(await stage.ended(id, 1 as never)).toBe('answered')
    await expect(stage.ended(id, 3 as never)).rejects.toThrow(NotInTime)
    await expect(stage.untilTurn(id)).rejects.toThrow(`not in time: a turn of ${id} runs`)
    await expect(stage.untilFree(id)).rejects.toThrow(`not in time: ${id} is given back`)
    const entries = await stage.entries(id)
    expect(entries).toEqual(
      await store.readEntries({ ...{ sessionId: id, from: 1, to: 99 } } as never),
    )
  })

  it('finds the compaction that runs, and how it ended', async () => {
    const { stage, fixture } = await open({ waitMs: 0 })
    const { id } = fixture
    await expect(stage.running(id)).rejects.toThrow(`not in time: a compaction of ${id} runs`)
    await fixture.exchange('One.', 'Yes.')
    await fixture.claim(1)
    const running = await stage.running(id)
    expect([running.state, await stage.operations(id)]).toEqual(['running', [running]])
    await expect(stage.outcome(id, running)).rejects.toThrow(
      `not in time: the compaction of ${id} ends`,
    )
  })

  it('ends its waits a while after a planted bug was found, without an offence', async () => {
    const { stage, offences } = await open({ isEnough: () => true })
    const waiting = async () => stage.until('never', () => false)
    await stage.play([waiting, async () => stage.until('at once', async () => true)])
    expect(offences).toEqual([])
  })

  it('is a text of so many tokens that begins with its subject', () => {
    expect(long('A page', 100)).toMatch(/^A page\./)
    expect([long('A', 100).length, long('A', 101).length]).toEqual([405, 412])
  })
})
