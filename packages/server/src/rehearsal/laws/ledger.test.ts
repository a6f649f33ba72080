import { describe, expect, it } from 'vitest'
import { agentNames, agentOf, fillerOf, firstOrderOf, Ledger, marksIn, parcelOf } from './ledger.ts'

describe('a ledger', () => {
  it('writes messages of the wanted length that each state one fact', () => {
    const ledger = new Ledger()
    const first = ledger.write('agent-1', { lane: 'user', tokens: 40, command: 'hand-over' })
    const second = ledger.write('agent-1', { lane: 'notification', tokens: 0 })
    const other = ledger.write('agent-2', { lane: 'user', tokens: 0 })
    const unsent = { order: null, mail: null }
    expect(ledger.letters).toEqual([first, second, other])
    expect(first).toEqual({
      ...{
        key: 'agent-1.1',
        agent: 'agent-1',
        lane: 'user',
        word: 'alder-7919-agent-1',
        ...unsent,
      },
      text:
        '[agent-1.1] The code word of parcel p1x1 is alder-7919-agent-1. north harbour lantern ' +
        'ferry granite orchard signal meadow north harbour.\nuse hand_over {"parcel":"p1x1"}',
    })
    expect(second).toEqual({
      ...{ key: 'agent-1.2', agent: 'agent-1', lane: 'notification', ...unsent },
      word: 'rowan-5865-agent-1',
      text: '[agent-1.2] The code word of parcel p1x2 is rowan-5865-agent-1.',
    })
    expect(other.key).toBe('agent-2.1')
    expect([ledger.find('agent-1.2'), ledger.find('agent-1.3')]).toEqual([second, undefined])
  })

  it('gives a message its place when it is sent first, and counts what was acknowledged', () => {
    const ledger = new Ledger()
    const [first, second, third] = [1, 2, 3].map(() =>
      ledger.write('agent-1', { lane: 'user', tokens: 9 }),
    )
    if (!first || !second || !third) throw new Error('not written')
    for (const each of [second, first, second]) ledger.send(each)
    expect([first, second, third].map(({ order }) => order)).toEqual([2, 1, null])
    first.mail = 4
    ledger.write('agent-2', { lane: 'user', tokens: 9 }).mail = 5
    expect(['agent-1', 'agent-2', 'agent-3'].map((each) => ledger.acknowledged(each))).toEqual([
      ...[1, 1, 0],
    ])
    for (const each of ['agent-1', 'agent-2', 'agent-1']) ledger.acknowledgeStop(each)
    expect([...ledger.stops]).toEqual([
      ['agent-1', 2],
      ['agent-2', 1],
    ])
  })

  it('uses eight trees in turn', () => {
    const ledger = new Ledger()
    const words = Array.from(
      { length: 8 },
      () => ledger.write('agent-1', { lane: 'user', tokens: 0 }).word,
    )
    expect(words.map((word) => word.split('-')[0])).toEqual([
      ...['alder', 'rowan', 'cedar', 'hazel', 'aspen', 'larch', 'elder', 'maple'],
    ])
  })
})

describe('the texts of the crowd', () => {
  it('fills a text with sentences of seventeen words', () => {
    expect([fillerOf(-5), fillerOf(0), fillerOf(1), fillerOf(6), fillerOf(7)]).toEqual([
      ...['', '', ' north.', ' north.', ' north harbour.'],
    ])
    const nouns = 'north harbour lantern ferry granite orchard signal meadow'
    expect(fillerOf(139)).toBe(` ${nouns} ${nouns} north. harbour lantern.`)
  })

  it('finds the names of messages, their agents and their parcels', () => {
    expect(marksIn('[agent-1.2] and [agent-3.45], not agent-1.2 or [agent-x.1]')).toEqual([
      ...['agent-1.2', 'agent-3.45'],
    ])
    expect([agentOf('agent-3.45'), parcelOf('agent-3.45')]).toEqual(['agent-3', 'p3x45'])
    expect(agentNames(2)).toEqual(['agent-1', 'agent-2'])
  })

  it('orders a task and a watched process first', () => {
    expect(firstOrderOf('agent-1', { program: '/bin/node', seconds: 7 })).toBe(
      'use tasks {"tasks":[{"content":"bring parcel open-agent-1 home","status":"pending"}]}\n' +
        'use process {"action":"start","program":"/bin/node","args":["-e","setInterval(() => ' +
        "console.log('WATCHED: a line that somebody waits for'), 2000)\"]," +
        '"watch":["WATCHED: a line that somebody waits for"],"time_seconds":7,"notify_end":false}',
    )
  })
})
