import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../base/json.ts'
import { activeEntries } from './branch.ts'

const said = (id: string, parentId: string | null, role = 'user'): JsonObject => ({
  ...{ type: 'message', id, parentId, message: { role, content: id } },
})
const header: JsonObject = { type: 'session', id: 'whole', version: 3 }
const idsOf = (lines: readonly JsonObject[]) => activeEntries(lines).map(({ id }) => id)

describe('the active entries of a pi session', () => {
  it('are all entries of a file without a tree', () => {
    const old = [header, { type: 'message', n: 1 }, { type: 'message', n: 2 }]
    expect(activeEntries(old)).toEqual(old.slice(1))
    // An id alone, or a parent alone, does not make a tree.
    const ids = [
      { type: 'message', id: 'a' },
      { type: 'message', parentId: 'x' },
    ]
    expect(activeEntries(ids)).toEqual(ids)
    expect(activeEntries([])).toEqual([])
  })

  it('are the path from the last entry to the root', () => {
    const lines = [header, said('a', null), said('b', 'a'), said('c', 'a'), said('d', 'c')]
    expect(idsOf(lines)).toEqual(['a', 'c', 'd'])
    // A note without an id is on no branch and ends none.
    expect(idsOf([...lines, { type: 'label', parentId: 'b' }])).toEqual(['a', 'c', 'd'])
  })

  it('end where a parent is missing or repeats', () => {
    expect(idsOf([said('b', 'gone'), said('c', 'b')])).toEqual(['b', 'c'])
    expect(idsOf([said('a', 'b'), said('b', 'a')])).toEqual(['a', 'b'])
  })

  const compaction = (id: string, parentId: string, kept: JsonObject): JsonObject => ({
    ...{ type: 'compaction', id, parentId, summary: 'The pier.' },
    ...kept,
  })

  it('are the newest compaction, the entries it kept, and the later ones', () => {
    const lines = [
      header,
      said('a', null),
      said('b', 'a'),
      compaction('x', 'b', { firstKeptEntryId: 'b' }),
      said('c', 'x'),
      compaction('y', 'c', { firstKeptEntryId: 'b' }),
      said('d', 'y'),
    ]
    // The older compaction is among the kept entries.
    expect(idsOf(lines)).toEqual(['y', 'b', 'c', 'd'])
    expect(idsOf(lines.slice(0, 5))).toEqual(['x', 'b', 'c'])
  })

  it.each<[string, JsonObject, readonly string[]]>([
    ['names no entry', {}, ['x', 'c']],
    ['names an unknown one', { firstKeptEntryId: 'gone' }, ['x', 'c']],
    ['names one behind itself', { firstKeptEntryId: 'c' }, ['x', 'c']],
    ['names a line', { firstKeptEntryIndex: 2 }, ['x', 'b', 'c']],
    ['names the line of the session', { firstKeptEntryIndex: 0 }, ['x', 'c']],
    ['names a line that is not there', { firstKeptEntryIndex: 99 }, ['x', 'c']],
  ])('keep nothing else if a compaction %s', (_, kept, ids) => {
    const lines = [header, said('a', null), said('b', 'a'), compaction('x', 'b', kept)]
    expect(idsOf([...lines, said('c', 'x')])).toEqual(ids)
  })

  it('begin with the system text, wherever it was', () => {
    const lines = [
      said('s', null, 'system'),
      said('a', 's'),
      said('b', 'a'),
      said('t', 'b', 'system'),
      compaction('x', 't', { firstKeptEntryId: 'b' }),
      said('c', 'x'),
    ]
    expect(idsOf(lines)).toEqual(['s', 't', 'x', 'b', 'c'])
  })
})
