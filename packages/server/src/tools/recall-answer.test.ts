import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { SearchAnswer, SearchHit } from '#core/store/queries'
import { recallAnswer } from './recall-answer.ts'

function hit(
  number: number,
  kind: 'input' | 'assistant' | 'result',
  excerpt: string,
  lane?: string,
) {
  const at = Date.UTC(2026, 4, number, 10, 30, 59)
  return {
    sessionId: 'here',
    entry: { number, kind, at, meta: { lane } },
    excerpt,
  } as unknown as SearchHit
}

function answer(hits: readonly SearchHit[], total = hits.length, pending = 0): SearchAnswer {
  return { hits, total, pending } as unknown as SearchAnswer
}

const here = sessionId('here')
const room = { characters: 10_000, skip: 0, here }

it('prints matches in the order of the conversation and lists the best first', () => {
  const hits = [
    hit(9, 'result', 'four\nlines'),
    hit(4, 'input', 'GRANITE?', 'user'),
    hit(7, 'input', 'a timer rang', 'notification'),
    hit(2, 'assistant', 'It is GRANITE.'),
  ]
  expect(recallAnswer(answer(hits), room)).toEqual({
    text: [
      '#2 you, 2026-05-02T10:30Z: It is GRANITE.',
      '#4 person, 2026-05-04T10:30Z: GRANITE?',
      '#7 notification, 2026-05-07T10:30Z: a timer rang',
      '#9 tool, 2026-05-09T10:30Z: four lines',
    ].join('\n'),
    shown: [9, 4, 7, 2],
  })
})

it('names the date once for the entries of a day', () => {
  const later = hit(6, 'assistant', 'b')
  const hits = [
    hit(8, 'assistant', 'c'),
    { ...later, entry: { ...later.entry, at: hit(4, 'input', '').entry.at + 60_000 } },
    hit(4, 'input', 'a', 'user'),
  ]
  expect(recallAnswer(answer(hits), room).text.split('\n')).toEqual([
    '#4 person, 2026-05-04T10:30Z: a',
    '#6 you: b',
    '#8 you, 2026-05-08T10:30Z: c',
  ])
})

it('prints a text once that several entries have, with all their numbers', () => {
  const hits = [
    hit(9, 'result', 'x = 1'),
    hit(4, 'result', 'x = 1'),
    hit(6, 'assistant', 'x = 1'),
    hit(5, 'result', 'y = 2'),
  ]
  const { text, shown } = recallAnswer(answer(hits, 7), room)
  expect(text.split('\n')).toEqual([
    '#4, #9 tool, 2026-05-04T10:30Z: x = 1',
    '#5 tool, 2026-05-05T10:30Z: y = 2',
    '#6 you, 2026-05-06T10:30Z: x = 1',
    '[3 weaker matches: skip: 4. Open an entry with from: NUMBER.]',
  ])
  expect(shown).toEqual([9, 4, 6, 5])
})

it('puts other sessions first, each entry with its session, the oldest session first', () => {
  const of = (id: string, each: SearchHit) => ({ ...each, sessionId: sessionId(id) })
  const hits = [
    hit(4, 'assistant', 'a'),
    of('new', hit(3, 'assistant', 'b')),
    of('old', hit(2, 'assistant', 'c')),
    of('new', hit(4, 'assistant', 'd')),
  ]
  expect(recallAnswer(answer(hits), room).text.split('\n')).toEqual([
    'old #2 you, 2026-05-02T10:30Z: c',
    'new #3 you, 2026-05-03T10:30Z: b',
    'new #4 you, 2026-05-04T10:30Z: d',
    '#4 you, 2026-05-04T10:30Z: a',
  ])
})

it('reports how many are left, where to continue, and what was not searched', () => {
  const hits = [hit(4, 'assistant', 'a')]
  const notes = (total: number, skip: number, pending: number) =>
    recallAnswer(answer(hits, total, pending), { ...room, skip })
      .text.split('\n')
      .slice(1)
  expect(notes(1, 0, 0)).toEqual([])
  expect(notes(2, 0, 0)).toEqual(['[1 weaker matches: skip: 1. Open an entry with from: NUMBER.]'])
  expect(notes(9, 3, 0)[0]).toContain('[5 weaker matches: skip: 4.')
  expect(notes(4, 3, 1)).toEqual(['[1 entries are not indexed yet and were not searched.]'])
})

it('stays within its size limit, but shows at least one', () => {
  const hits = Array.from({ length: 20 }, (_, at) => {
    return hit(2 * at + 1, 'assistant', `${at} ${'x'.repeat(900)}`)
  })
  const { text, shown } = recallAnswer(answer(hits), { characters: 2_000, skip: 0, here })
  expect(text.length).toBeLessThanOrEqual(2_000)
  expect(shown).toEqual([1, 3])
  expect(recallAnswer(answer(hits), { characters: 1, skip: 0, here }).shown).toEqual([1])
})
