import { describe, expect, it } from 'vitest'
import type { JsonValue } from '#core/base/json'
import {
  callUnit,
  hashUnit,
  opaqueItem,
  parsedCallUnit,
  textUnit,
  type Unit,
  withoutDeepLevels,
} from './unit.ts'
import { ancestorAt, boundariesOf, entryEnd, isUndone, UnitTree } from './unit-tree.ts'

const said = (text: string): Unit => ({ kind: 'text', role: 'user', text })
const call = (input: JsonValue): Unit => ({ kind: 'call', id: 'c', name: 'f', input })
const result = (...output: readonly object[]): Unit => ({
  ...{ kind: 'result', id: 'c', output: output as never, isError: false },
})
const image = (source: object, type = 'image') => ({ type, source })
const base64 = (data: string) => ({ kind: 'base64', mediaType: 'image/png', data })
const odd = (value: object) => ({ type: 'opaque', provider: 'openai', value })
const block = (part: object): Unit => ({ kind: 'block', role: 'user', part: part as never })
const words = (text: string) => ({ type: 'text', text })

describe('two units', () => {
  it.each<[string, Unit, Unit]>([
    ['white space around words', said('a'), said(' a\n')],
    ['the order of keys', call({ a: 1, b: [{ c: 2, d: 3 }] }), call({ b: [{ d: 3, c: 2 }], a: 1 })],
    [
      'blank parts and white space of a result',
      result(words('a')),
      result(words(' '), words('a ')),
    ],
    ['whether a result is an error', result(), { ...result(), isError: true } as Unit],
    [
      'the media type of the same bytes',
      block(image(base64('QQ=='))),
      block(image({ ...base64('QQ=='), mediaType: 'x/y' })),
    ],
    ['the order of keys of a part', block(odd({ a: 1, b: 2 })), block(odd({ b: 2, a: 1 }))],
  ])('are the same but for %s', (_, one, other) => {
    expect(hashUnit(one)).toBe(hashUnit(other))
    expect(hashUnit(one)).toMatch(/^[\w-]{27}$/)
  })

  it.each<[string, Unit, Unit]>([
    ['words', said('a'), said('b')],
    ['speakers', said('a'), { ...said('a'), role: 'assistant' } as Unit],
    ['ids of calls', call({}), { ...call({}), id: 'd' } as Unit],
    ['names of calls', call({}), { ...call({}), name: 'g' } as Unit],
    ['arguments', call({ a: [1, 2] }), call({ a: [2, 1] })],
    ['unread arguments', call({}), { ...call({}), inputText: '{' } as Unit],
    ['ids of results', result(), { ...result(), id: 'd' } as Unit],
    ['results', result(words('a')), result(words('a'), words('b'))],
    ['kinds of parts', block(image(base64('QQ=='))), block(image(base64('QQ=='), 'file'))],
    ['bytes', block(image(base64('QQ=='))), block(image(base64('Qg==')))],
    ['addresses', block(image({ kind: 'url', url: 'a' })), block(image({ kind: 'url', url: 'b' }))],
    ['stored files', block(image({ kind: 'id', id: 'a' })), block(image({ kind: 'id', id: 'b' }))],
    ['speakers of parts', block(odd({})), { ...block(odd({})), role: 'assistant' } as Unit],
    ['parts', block(odd({ a: 1 })), block(odd({ a: 2 }))],
    ['null and nothing', call({ a: null }), call({})],
  ])('differ by their %s', (_, one, other) => {
    expect(hashUnit(one)).not.toBe(hashUnit(other))
  })

  it('of stored and of sent bytes are the same', () => {
    const bytes = 'blob:559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd'
    expect(hashUnit(block(image(base64('QQ=='))))).toBe(
      hashUnit(block(image({ kind: 'id', id: bytes }))),
    )
  })
})

it('units are made of words, of arguments as written, and of parts without cache marks', () => {
  expect(textUnit('user', ' a ')).toEqual([said('a')])
  expect(textUnit('user', ' \n')).toEqual([])
  expect(callUnit('c', 'f', '{"a":1}')).toEqual(call({ a: 1 }))
  expect(callUnit('c', 'f', '')).toEqual(call({}))
  expect(callUnit('c', 'f', '{')).toEqual({ ...call({}), inputText: '{' })
  expect(parsedCallUnit('c', 'f', [1])).toEqual(call([1]))
  expect(opaqueItem('openai', { a: 1, cache_control: {} })).toEqual(odd({ a: 1 }))
})

it('201 levels of a value are kept', () => {
  const nested = (levels: number): JsonValue =>
    Array.from({ length: levels }).reduce<JsonValue>((inner) => ({ a: [inner] }), 'x')
  expect(withoutDeepLevels(nested(100))).toEqual(nested(100))
  const text = JSON.stringify(withoutDeepLevels([nested(101)]))
  expect(text.split('[nested too deep]')).toHaveLength(2)
  // Containers on the way to the cut: 201 of them.
  expect(text.slice(0, text.indexOf('[nested too deep]')).replaceAll(/[^[{]/g, '')).toHaveLength(
    201,
  )
})

describe('UnitTree', () => {
  const boundary = (entry: number) => ({ entry, wire: 'chat', items: '', text: '' })

  it('knows the place of each entry, and goes on in branches', () => {
    const tree = new UnitTree()
    const one = tree.add(1, ['a', 'b'])
    const two = tree.add(2, ['c'])
    expect([one.depth, one.entry, one.parent?.entry, two.parent]).toEqual([2, 1, null, one])
    expect(tree.add(3, [])).toBe(two)
    expect([two.entry, tree.upTo(3), tree.upTo(9)]).toEqual([2, two, tree.root])
    tree.rewind(4, 1)
    expect([tree.head, tree.upTo(4)]).toEqual([one, one])
    const other = tree.add(5, ['d'])
    expect(tree.follow(tree.root, ['a', 'b', 'd', 'x'])).toBe(other)
    expect(tree.follow(one, ['c'])).toBe(two)
    expect(tree.follow(tree.root, ['x', 'a'])).toBe(tree.root)
    expect(entryEnd(one.parent ?? one)).toMatchObject({ depth: 0, entry: 0 })
    expect(entryEnd(two)).toMatchObject({ depth: 3, entry: 2 })
    expect([2, 0, 3, 4].map((depth) => ancestorAt(two, depth))).toEqual([one, tree.root, two, null])
  })

  it('knows what handoffs cover, the deepest first, and which were undone', () => {
    const tree = new UnitTree()
    const one = tree.add(1, ['a'])
    const two = tree.add(2, ['b'])
    tree.cover(1, boundary(3))
    tree.cover(2, boundary(4))
    const depths = () =>
      boundariesOf(tree.head).map(({ depth, boundary: { entry } }) => [depth, entry])
    expect(depths()).toEqual([
      [2, 4],
      [1, 3],
    ])
    expect([tree.coveredBy(3), tree.coveredBy(4), tree.coveredBy(5)]).toEqual([one, two, null])
    expect([tree.upTo(3), tree.undos, isUndone(tree.head)]).toEqual([two, 0, false])
    tree.undo(5, 4)
    expect([depths(), tree.undos, isUndone(two), isUndone(one)]).toEqual([[[1, 3]], 1, true, false])
    expect([two.undone?.entry, tree.upTo(5)]).toEqual([4, two])
    // Undone already: there is nothing more to undo.
    tree.undo(6, 4)
    expect([depths(), tree.undos, two.undone?.entry]).toEqual([[[1, 3]], 2, 4])
    tree.cover(2, boundary(7))
    expect([two.boundary?.entry, two.undone, isUndone(two)]).toEqual([7, null, false])
  })

  it('forgets a handoff that was erased, also an undone one, and no other', () => {
    const tree = new UnitTree()
    const one = tree.add(1, ['a'])
    tree.cover(1, boundary(2))
    tree.undo(3, 2)
    tree.uncover(9)
    expect(one.undone?.entry).toBe(2)
    tree.uncover(2)
    expect([one.undone, tree.coveredBy(2)]).toEqual([null, null])
    tree.cover(1, boundary(4))
    tree.cover(1, boundary(5))
    tree.uncover(4)
    expect(one.boundary?.entry).toBe(5)
    tree.uncover(5)
    expect([one.boundary, tree.coveredBy(5)]).toEqual([null, null])
  })
})
