import { afterAll, describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Store } from '../contract.ts'
import { expectKind, newOperation, StoreFixture } from '../contract-suite/bench.ts'
import type { Search, SearchHit } from '../queries.ts'
import { openMemoryStore } from './open.ts'

async function call(fixture: StoreFixture, id: string, name: string, input: JsonObject) {
  const body = { role: 'assistant', parts: [{ type: 'tool-call', id, name, input }] }
  const { turn } = await fixture.row()
  const step = {
    upto: fixture.tail.number,
    renderer: 'r1',
    calls: [id],
    body,
    tokens: 10,
    blobs: [],
  }
  const outcome = await fixture.store.commitReply({ ...fixture.fenced(), turn, step })
  fixture.tail = expectKind(outcome, 'committed').tail
}

/** A talk of two agents about a harbour; `d` is a fork of `a` up to its sixth entry. */
async function fill(store: Store): Promise<void> {
  const open = (id: string, agent: string) =>
    StoreFixture.open(store, { id: sessionId(id), agent, scope: 'pier' })
  const a = await open('a', 'ada')
  await a.exchange(
    'Where does the ferry Borkum-7 land at low tide?',
    'The ferry lands at the outer pier. At low tide the inner harbour is dry.',
  )
  await a.hear('Read docs/tide-table.md, please, and mind `getTideHeight`.')
  await call(a, 'c1', 'read', { path: 'docs/tide-table.md' })
  await a.results('c1')
  await a.reply('The table says 1.3 metres. getTideHeight returns millimetres: 1300.', {
    ends: 'answered',
  })
  await a.exchange('Is the lighthouse lit?', 'The lighthouse is lit from dusk. '.repeat(60))
  const b = await open('b', 'ada')
  await b.exchange('The ferry was late.', 'The tide held the ferry back, and the ferry waited.')
  await b.exchange('Where are the lamps?', 'The lamps are on the outer pier.')
  const c = await open('c', 'bo')
  await c.exchange('Ferry ferry ferry.', 'One ferry is enough.')
  await store.fork({
    ...{ id: sessionId('d'), from: sessionId('a'), at: entryNumber(6), source: 'x', key: 'k' },
    operation: newOperation(),
  })
  const d = await StoreFixture.acquire(store, sessionId('d'), a.lease.runner)
  await d.exchange('And the ferry of the fork?', 'It lands where the other ferry lands.')
}

const store = openMemoryStore()
await fill(store)
afterAll(() => store.close())

type Asked = Partial<Search> & { readonly text: string }
const ask = (asked: Asked) =>
  store.search({ sessionId: sessionId('a'), limit: 10, neighbours: 0, ...asked })

/** How many are found, and which are shown, the best first. */
const ANSWERS: readonly (readonly [asked: Asked, answer: string])[] = [
  [{ text: 'ferry' }, '2: a1 a2'],
  [{ text: 'ferry', limit: 1, skip: 1 }, '2: a2'],
  [{ text: 'ferry', limit: 1 }, '2: a1'],
  [{ text: 'ferry', skip: 2 }, '2: '],
  [{ text: 'low tide' }, '4: a1 a2 a4 a5'],
  [{ text: '"low tide"' }, '2: a1 a2'],
  [{ text: '"Low  Tide" ferry' }, '2: a1 a2'],
  [{ text: '"low harbour"' }, '0: '],
  [{ text: 'low tide', exact: true }, '2: a1 a2'],
  [{ text: 'gettideheight' }, '2: a7 a4'],
  [{ text: 'tide height' }, '5: a4 a7 a5 a2 a1'],
  [{ text: 'Borkum-7' }, '1: a1'],
  [{ text: 'borkum' }, '1: a1'],
  [{ text: 'lighthose' }, '2: a9 a10'],
  [{ text: 'zlighthouse' }, '0: '],
  [{ text: 'the' }, '5: a9 a1 a10 a7 a2'],
  [{ text: '' }, '0: '],
  [{ text: 'zebra' }, '0: '],
  [{ text: 'lit dusk' }, '2: a10 a9'],
  [{ text: 'lighthouse', speaker: 'person' }, '1: a9'],
  [{ text: 'lighthouse', speaker: 'agent' }, '1: a10'],
  [{ text: 'result', speaker: 'tool' }, '1: a6'],
  [{ text: 'lighthouse', speaker: 'notification' }, '0: '],
  [{ text: 'tide', path: 'docs/tide-table.md' }, '2: a5 a4'],
  [{ text: 'table', tool: 'read' }, '1: a5'],
  [{ text: 'result', tool: 'read' }, '1: a6'],
  [{ text: 'result', tool: 'write' }, '0: '],
  [{ text: 'ferry', before: entryNumber(2) }, '1: a1'],
  [{ text: 'ferry', before: entryNumber(1) }, '0: '],
  [{ text: 'tide', before: entryNumber(5) }, '3: a4 a2 a1'],
  [{ text: 'ferry', since: 0 }, '2: a1 a2'],
  [{ text: 'ferry', until: 1 }, '0: '],
  [{ text: 'table metres', near: true }, '8: a7 a5 a4 a9 a6 a10 a2 a1'],
  [{ text: 'ferry', sessionId: sessionId('d') }, '4: d9 d8 d1 d2'],
  [{ text: 'ferry', sessionId: sessionId('d'), before: entryNumber(8) }, '2: d1 d2'],
  [{ text: 'result', sessionId: sessionId('d'), tool: 'read' }, '1: d6'],
  [{ text: 'ferry', sessionId: [sessionId('b'), sessionId('a')] }, '4: b1 b2 a1 a2'],
  [{ text: 'ferry', sessionId: [sessionId('a'), sessionId('d')] }, '4: d9 d8 a1 a2'],
  [
    { text: 'ferry', sessionId: [sessionId('b'), sessionId('c')], before: entryNumber(2) },
    '3: c1 c2 b1',
  ],
  [{ text: 'ferry', sessionId: [] }, '0: '],
  [{ text: 'ferry', sessionId: { agent: 'ada' } }, '6: d8 b1 d9 b2 a1 a2'],
  [{ text: 'ferry', sessionId: { agent: 'bo' } }, '2: c1 c2'],
  [{ text: 'ferry', sessionId: {} }, '8: c1 d8 b1 d9 c2 b2 a1 a2'],
  [{ text: 'ferry lamps', sessionId: {}, limit: 3 }, '10: b1 b2 b4'],
  [{ text: 'ferry lamps', sessionId: {}, limit: 3, skip: 3 }, '10: b5 c1 d8'],
  [{ text: 'ferry', sessionId: {}, speaker: 'person' }, '4: c1 d8 b1 a1'],
  [{ text: 'lighthose', sessionId: {} }, '2: a9 a10'],
  [{ text: 'ferry', sessionId: { scope: 'other' } }, '0: '],
  [{ text: 'ferry', sessionId: { scope: 'pier' }, limit: 2 }, '6: c1 b1'],
  [
    { text: 'ferry', sessionId: { agent: 'ada', here: sessionId('a') }, before: entryNumber(2) },
    '5: d8 b1 d9 b2 a1',
  ],
  [{ text: '"outer pier"', sessionId: {} }, '2: b5 a2'],
  [{ text: 'table', tool: 'read', sessionId: {} }, '1: a5'],
]

describe('a search in memory', () => {
  it.each(ANSWERS)('%#: of %j finds %s', async (asked, answer) => {
    const { hits, total, pending, unembedded } = await ask(asked)
    expect([pending, unembedded]).toEqual([0, 0])
    const shown = `${total}: ${hits.map((hit) => hit.sessionId + hit.entry.number).join(' ')}`
    expect(shown).toBe(answer)
  })

  it('shows the neighbours of a hit, and the passage that answers', async () => {
    const [hit, ...more] = (await ask({ text: 'millimetres', neighbours: 3 })).hits
    const numbers = (entries: SearchHit['before'] = []) => entries.map(({ number }) => number)
    expect([numbers(hit?.before), numbers(hit?.after), more]).toEqual([[4, 5, 6], [8, 9, 10], []])
    expect(hit?.excerpt).toBe('The table says 1.3 metres. getTideHeight returns millimetres: 1300.')
    const [first] = (await ask({ text: 'low tide', neighbours: 2 })).hits
    expect([numbers(first?.before), numbers(first?.after)]).toEqual([[], [2, 3]])
    const [long] = (await ask({ text: 'dusk' })).hits
    expect(long?.excerpt).toBe('The lighthouse is lit from dusk. '.repeat(18).trim())
  })
})
