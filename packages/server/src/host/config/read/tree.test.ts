import { describe, expect, it } from 'vitest'
import {
  ConfigError,
  type ConfigOrigin,
  DEFAULT_ORIGIN,
  originText,
  pathText,
  problemText,
} from './problem.ts'
import {
  EMPTY,
  keyOriginAt,
  type Node,
  nodeAt,
  nodeOf,
  originAt,
  plainOf,
  saidAt,
  withNode,
} from './tree.ts'

const flag = (name: string): ConfigOrigin => ({ kind: 'flag', flag: name })
const FILE: ConfigOrigin = { kind: 'file', file: 'a.yaml', line: 3, column: 5 }
const VALUE = { a: [1, { b: 'x', gone: null }], c: { d: true }, e: 5 }
const tree = nodeOf(VALUE, FILE)

describe('the tree of a configuration', () => {
  it('holds plain values, without those that are null', () => {
    expect(plainOf(tree)).toEqual({ a: [1, { b: 'x' }], c: { d: true }, e: 5 })
    expect([plainOf(EMPTY), EMPTY.origin]).toEqual([{}, DEFAULT_ORIGIN])
    expect(nodeOf(null, FILE)).toEqual({ kind: 'leaf', value: null, origin: FILE })
  })

  it.each<[string, readonly (string | number)[], unknown]>([
    ['the whole', [], { z: 1 }],
    ['a key', ['e'], { a: [1, { b: 'x' }], c: { d: true }, e: { z: 1 } }],
    ['a new key', ['c', 'n'], { a: [1, { b: 'x' }], c: { d: true, n: { z: 1 } }, e: 5 }],
    ['a key below a leaf', ['e', 'n'], { a: [1, { b: 'x' }], c: { d: true }, e: { n: { z: 1 } } }],
    ['a key on a new way', ['n', 'm'], { ...(plainOf(tree) as object), n: { m: { z: 1 } } }],
    ['an item', ['a', 0], { a: [{ z: 1 }, { b: 'x' }], c: { d: true }, e: 5 }],
    ['a key in an item', ['a', 1, 'b'], { a: [1, { b: { z: 1 } }], c: { d: true }, e: 5 }],
    ['an item behind the last', ['a', 2], { a: [1, { b: 'x' }, { z: 1 }], c: { d: true }, e: 5 }],
    [
      'a number where there is no list',
      ['c', 0],
      { a: [1, { b: 'x' }], c: { d: true, 0: { z: 1 } }, e: 5 },
    ],
    ['a name where there is a list', ['a', 'n'], { a: { n: { z: 1 } }, c: { d: true }, e: 5 }],
  ])('takes a value in place of %s', (_, path, plain) => {
    expect(plainOf(withNode(tree, path, nodeOf({ z: 1 }, flag('f'))))).toEqual(plain)
    expect(plainOf(tree)).toEqual({ a: [1, { b: 'x' }], c: { d: true }, e: 5 })
  })

  const changed = withNode(
    withNode(tree, ['c', 'd'], nodeOf(false, flag('c.d'))),
    ['n', 'm'],
    nodeOf(1, flag('n.m')),
  )
  const bare = withNode(EMPTY, ['n', 'm'], nodeOf(1, DEFAULT_ORIGIN))

  it.each<[string, Node, readonly (string | number)[], ConfigOrigin, ConfigOrigin, ConfigOrigin]>([
    // The value, exactly this value, and the name of the key.
    ['a value of the file', changed, ['e'], FILE, FILE, FILE],
    ['a replaced value', changed, ['c', 'd'], flag('c.d'), flag('c.d'), FILE],
    ['what holds it', changed, ['c'], FILE, FILE, FILE],
    ['a new value', changed, ['n', 'm'], flag('n.m'), flag('n.m'), flag('n.m')],
    ['an item', changed, ['a', 1, 'b'], FILE, FILE, FILE],
    ['what is missing', changed, ['c', 'x'], FILE, DEFAULT_ORIGIN, FILE],
    ['what is missing below a value', changed, ['e', 'x'], FILE, FILE, FILE],
    ['nothing', changed, ['x', 'y'], FILE, DEFAULT_ORIGIN, FILE],
    ['a default below nothing', bare, ['n', 'm'], DEFAULT_ORIGIN, DEFAULT_ORIGIN, DEFAULT_ORIGIN],
  ])('knows where %s comes from', (_, node, path, at, said, key) => {
    expect([originAt(node, path), saidAt(node, path), keyOriginAt(node, path)]).toEqual([
      at,
      said,
      key,
    ])
  })

  it('finds nodes by keys and numbers, and none below a value', () => {
    expect(nodeAt(tree, ['a', 1, 'b'])).toEqual({ kind: 'leaf', value: 'x', origin: FILE })
    expect(nodeAt(tree, [])).toBe(tree)
    for (const path of [['x'], ['e', 'x'], ['a', 5], ['x', 'y']])
      expect([path, nodeAt(tree, path)]).toEqual([path, undefined])
    // A key without a value says nothing.
    const empty = withNode(EMPTY, ['n'], nodeOf(undefined, FILE))
    expect(saidAt(empty, ['n'])).toEqual(DEFAULT_ORIGIN)
  })
})

it.each<[readonly (string | number)[], string]>([
  [[], ''],
  [['agents', 'main', 'stepsMax'], 'agents.main.stepsMax'],
  [['a-b_1', 0, 'c'], 'a-b_1[0].c'],
  [['agents', 'a.b', 'c'], 'agents["a.b"].c'],
  [['a b'], '["a b"]'],
])('the path %j is written %s', (path, text) => {
  expect(pathText(path)).toBe(text)
})

it('a problem is said with its place, if it has one, and all of them together', () => {
  const problems = [
    { origin: FILE, text: 'One.' },
    { origin: { kind: 'environment', variable: 'X' } as const, text: 'Two.' },
    { origin: flag('a.b'), text: 'Three.' },
    { origin: DEFAULT_ORIGIN, text: 'Four.' },
  ]
  const texts = ['a.yaml:3:5: One.', 'X: Two.', '--set a.b: Three.', 'Four.']
  expect(problems.map(problemText)).toEqual(texts)
  expect(originText(DEFAULT_ORIGIN)).toBe('default')
  const error = new ConfigError(problems)
  const { name, code, retryable, message } = error
  expect({ name, code, retryable, message, problems: error.problems }).toEqual({
    ...{ name: 'ConfigError', code: 'invalid-config', retryable: false, problems },
    message: `The configuration cannot be used.\n${texts.map((text) => `  ${text}`).join('\n')}`,
  })
})
