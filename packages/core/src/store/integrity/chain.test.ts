import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entryNumber, operationId, sessionId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import type { Entry } from '../tables/rows.ts'
import { canonicalJson } from './canonical.ts'
import { checkEntry, firstHash, hashBody, hashEntry, saltFor } from './chain.ts'

function entry(fields: Partial<Entry> = {}): Entry {
  const head = {
    number: entryNumber(1),
    kind: 'task',
    operation: operationId('o'),
    fence: 1,
    at: 5,
    tokens: 3,
    meta: {},
    ...fields,
  } as Entry
  const salt = saltFor('seed', 1)
  const body = '"text"'
  const bodyHash = hashBody(salt, body)
  const prevHash = firstHash(sessionId('s'))
  return { ...head, salt, body, bodyHash, prevHash, hash: hashEntry(prevHash, head, bodyHash) }
}

describe('chain', () => {
  it('an unchanged entry passes the check', () => {
    expect(checkEntry(firstHash(sessionId('s')), entry())).toBeUndefined()
  })

  it.each([
    ['body', { body: '"other"' }],
    ['head', { fence: 2 }],
    ['head', { tokens: 4 }],
    ['head', { at: 6 }],
    ['head', { operation: operationId('p') }],
    ['head', { number: entryNumber(2) }],
    ['head', { kind: 'settings' }],
    ['order', { prevHash: '0'.repeat(64) }],
  ] as const)('a change is reported as damage to the %s: %j', (damage, change) => {
    const changed = { ...entry(), ...change } as Entry
    expect(checkEntry(firstHash(sessionId('s')), changed)).toBe(damage)
  })

  it('an erased entry passes the check, and its hash does not reveal the body', () => {
    const erased: Entry = { ...entry(), body: null, salt: null }
    expect(checkEntry(firstHash(sessionId('s')), erased)).toBeUndefined()
    expect(hashBody(saltFor('seed', 1), '"a"')).not.toBe(hashBody(saltFor('seed', 2), '"a"'))
  })

  it('two sessions start with different hashes', () => {
    expect(firstHash(sessionId('a'))).not.toBe(firstHash(sessionId('b')))
  })
})

describe('canonicalJson', () => {
  it('gives one text per value, whatever the order of keys', () => {
    expect(canonicalJson({ b: [1, { d: null, c: true }], a: 'x' })).toBe(
      '{"a":"x","b":[1,{"c":true,"d":null}]}',
    )
  })

  it('is JSON that reads back as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = canonicalJson(value as JsonValue)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(JSON.parse(text) as JsonValue)).toBe(text)
      }),
    )
  })

  it('writes every character as JSON.stringify does, in short and in long strings', () => {
    for (let code = 0; code < 0x300; code++) {
      for (const text of [String.fromCharCode(code), 'x'.repeat(99) + String.fromCharCode(code)]) {
        expect(canonicalJson({ [text]: text })).toBe(JSON.stringify({ [text]: text }))
      }
    }
  })

  it('refuses objects that would become {}', () => {
    for (const value of [new Date(0), new Map([[1, 2]]), new Set([1]), new Uint8Array(2)]) {
      expect(() => canonicalJson({ at: [value] } as never)).toThrow(
        /holds a (Date|Map|Set|Uint8Array)/,
      )
    }
    expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}')
  })

  it('replaces lone surrogates before an engine does so silently [fault 35]', () => {
    expect(canonicalJson('a\ud800')).toBe('"a\ufffd"')
  })

  it.each([
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [1n],
    [() => 1],
    [[undefined]],
    [new Array(1)],
  ])('refuses %s', (value) => {
    expect(() => canonicalJson(value as never)).toThrow(/plain JSON/)
  })
})
