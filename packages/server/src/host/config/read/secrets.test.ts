import { describe, expect, it } from 'vitest'
import type { ConfigOrigin } from './problem.ts'
import { displayValue, findLiteralSecrets, withoutSecrets } from './secrets.ts'
import { nodeOf } from './tree.ts'

const KEY = ['sk-ant-', 'api03-a8F3k2Q9z7X1m4B6c5D0e9G8h7J6k5L4m3N2p1R0s9T8u7V6w5X4y3Z2'].join('')
const RANDOM = 'a8F3k2Q9z7X1m4B6c5D0e9G8'
const FILE = {
  kind: 'file',
  path: 'throughline.yaml',
  line: 1,
  column: 1,
} as unknown as ConfigOrigin
const VARIABLE = { kind: 'environment', name: 'X' } as unknown as ConfigOrigin
const found = (value: unknown, origin = FILE) =>
  findLiteralSecrets(nodeOf(value, origin)).map(({ text }) => text)

describe('findLiteralSecrets', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'a key',
      { agents: { main: { note: KEY } } },
      /^`agents\.main\.note` holds what looks like a key/,
    ],
    ['a key in a list', { list: ['a', KEY] }, /^`list.*1.*` holds what looks like a key/],
    [
      'a password in an address',
      { upstream: 'https://u:p@a.example' },
      /^`upstream` holds a password/,
    ],
    [
      'a password in a query',
      { upstream: 'postgres://a.example/b?password=x' },
      /^`upstream` holds a password/,
    ],
    ['a password of the store', { store: { url: 'postgres://u:p@a.example/b' } }, /PGPASSWORD/],
    ['a header with a key', { headers: { Authorization: 'x' } }, /looks like a key in a header/],
    ['a header with a token', { headers: { 'x-my-token': 'x' } }, /looks like a key in a header/],
    ['a header with a cookie', { headers: { cookie: 'x' } }, /looks like a key in a header/],
    [
      'a header of a proxy',
      { headers: { 'proxy-authorization': 'x' } },
      /looks like a key in a header/,
    ],
  ])('finds %s', (_, value, text) => {
    expect(found(value)).toEqual([expect.stringMatching(text)])
  })

  it.each<[string, unknown]>([
    ['plain values', { a: 'text', b: 5, c: true, d: ['x'] }],
    ['an address without a password', { upstream: 'https://u@a.example/?q=1' }],
    ['a source of a key', { credential: KEY, password: 'postgres://u:p@h/x' }],
    ['a plain header', { headers: { 'x-tenant': 'a', 'x-keyed': 'b' } }],
    ['a text that is no address', { a: 'u:p@host' }],
  ])('lets %s be', (_, value) => {
    expect(found(value)).toEqual([])
  })

  it('lets variables hold one, except as the name of a model', () => {
    expect(found({ note: KEY }, VARIABLE)).toEqual([])
    expect(found({ model: KEY }, VARIABLE)).toHaveLength(1)
    expect(found({ model: KEY })).toHaveLength(1)
  })
})

describe('displayValue', () => {
  it.each<[unknown, readonly (string | number)[], unknown, unknown]>([
    [5, ['a'], undefined, 5],
    ['text', ['a'], undefined, 'text'],
    ['x', ['headers', 'authorization'], undefined, '[secret]'],
    ['x', ['headers', 'x-tenant'], undefined, 'x'],
    ['x', ['other', 'authorization'], undefined, 'x'],
    ['https://u:p@a.example/', ['url'], undefined, 'https://u:[secret]@a.example/'],
    [
      'postgres://a.example/b?password=x',
      ['url'],
      undefined,
      'postgres://a.example/b?password=[secret]',
    ],
    ['https://u@a.example/', ['url'], undefined, 'https://u@a.example/'],
    ['hunter2-x', ['args', 1], '--password', '[secret:password]'],
    ['hunter2-x', ['args', 1], 'password', 'hunter2-x'],
    ['hunter2-x', ['args', 1], 5, 'hunter2-x'],
  ])('shows %j at %j', (value, path, before, shown) => {
    expect(displayValue(value, path, before)).toEqual(shown)
  })

  it('shows no key, and no value that its name calls a password', () => {
    expect(displayValue(KEY, ['note'])).not.toContain(KEY)
    expect(displayValue('hunter2-x', ['password'])).toBe('[secret:password]')
  })
})

describe('withoutSecrets', () => {
  it('masks long random words, but not in paths or longer names', () => {
    expect(withoutSecrets(`see ${RANDOM} now`)).toBe('see [secret:word] now')
    expect(withoutSecrets(`/a/${RANDOM}/b`)).toBe(`/a/${RANDOM}/b`)
    expect(withoutSecrets('internationalizationofficers')).toBe('internationalizationofficers')
    expect(withoutSecrets(RANDOM.slice(0, 19))).toBe(RANDOM.slice(0, 19))
    expect(withoutSecrets(RANDOM.slice(0, 20))).toBe('[secret:word]')
  })
})
