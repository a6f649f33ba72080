import { describe, expect, it } from 'vitest'
import type { Sighting } from './gather.ts'
import { formOf, worthOf } from './rank.ts'
import { eachWord } from './words.ts'

const sighting = (word: string, changed: Partial<Sighting> = {}): Sighting =>
  ({ word, source: 'said', number: 1, arguments: 0, ...changed }) as Sighting

describe('formOf', () => {
  /** Kind and weight as a word that was said, and as one that was typed into an argument. */
  const forms = (word: string) =>
    (['said', 'argument'] as const).map((source) => {
      const form = formOf(sighting(word, { source }))
      return form === undefined ? null : `${form.kind} ${form.weight}`
    })

  it.each([
    ['https://a.example/b', 'url 1', 'url 1'],
    ['git+ssh://host/a', 'url 1', 'url 1'],
    ['--dry-run', 'flag 3', 'flag 3'],
    ['-rf', null, 'flag 3'],
    ['--X', null, null],
    ['-1', null, null],
    ['ann@host.example', 'name 8', 'name 8'],
    ['/src/app/main.ts', 'path 6', 'path 6'],
    ['~/notes.md', 'path 6', 'path 6'],
    ['/src/app', 'path 1.5', 'path 1.5'],
    ['/src', 'name 0.1', 'path 1.5'],
    ['src/app/main', 'path 0.8', 'path 0.8'],
    ['src/main.ts', 'path 0.8', 'path 0.8'],
    ['and/or', 'name 0.1', 'path 0.8'],
    ['3f2a9c1', 'id 1.2', 'id 1.2'],
    ['3f2a-9c1d', 'id 1.2', 'id 1.2'],
    ['12345678', 'id 0.6', 'id 0.6'],
    ['#12345', null, 'id 0.6'],
    ['#1234567', 'id 0.6', 'id 0.6'],
    ['1234', null, null],
    ['2026-11-18', 'id 0.6', 'id 0.6'],
    ['12.5ms', null, null],
    ['10:30', null, null],
    ['main.ts', 'path 0.9', 'path 0.9'],
    ['abc123', 'id 0.2', 'id 0.2'],
    ['Something', null, null],
    ['snake_case', 'name 1.6', 'name 1.6'],
    ['step-2', 'name 1.6', 'name 1.6'],
    ['well-known', 'name 0.1', 'name 1.6'],
    ['Config.loadAll', 'name 0.3', 'name 0.3'],
    ['a+b_c', 'name 0.1', 'name 0.6'],
    ['C:\\temp', null, 'name 0.6'],
    ['*_test', null, 'name 0.6'],
    ['//comment/one', null, 'path 1.5'],
  ])('classifies %s', (word, said, typed) => {
    expect(forms(word)).toEqual([said, typed])
  })

  it('gives full weight to a path in a written body, and little to one in a result', () => {
    expect(formOf(sighting('/src', { source: 'body' }))?.weight).toBe(1.5)
    expect(formOf(sighting('/src', { source: 'result' }))?.weight).toBe(0.1)
    expect(formOf(sighting('Config.loadAll', { source: 'result' }))?.weight).toBe(0.1)
    expect(formOf(sighting('Config.loadAll', { source: 'body' }))?.weight).toBe(0.3)
  })
})

describe('worthOf', () => {
  const form = { kind: 'name', weight: 1 } as const
  const worth = (changed: Partial<Sighting>, end = 2) =>
    worthOf(sighting('name', changed), form, end)

  it('ranks sources: arguments, bodies, messages, results', () => {
    const [argument, body, said, asked, kept, result] = (
      ['argument', 'body', 'said', 'asked', 'kept', 'result'] as const
    ).map((source) => worth({ source }))
    expect([argument, body, said, asked, kept, result].map((value) => (value ?? 0) * 5)).toEqual([
      ...[5, 1.5, 0.7, 0.7, 0.7, 0.2],
    ])
  })

  it('rises with every use, falls with age and length', () => {
    expect(worth({ arguments: 1 }) / worth({ arguments: 0 })).toBeCloseTo(2 ** 0.8)
    expect(worth({}, 11) / worth({}, 2)).toBeCloseTo(10 ** -0.4)
    // The newest message, and one that is not there yet, are equally new.
    expect(worth({ number: 2 }, 2)).toBe(worth({ number: 1 }, 2))
    expect(worth({ number: 9 }, 2)).toBe(worth({ number: 1 }, 2))
    expect(worthOf(sighting('x'.repeat(9)), form, 2)).toBeCloseTo(0.07)
    expect(worthOf(sighting('name'), { ...form, weight: 3 }, 2)).toBeCloseTo(3 * worth({}))
  })
})

describe('eachWord', () => {
  const words = (text: string) => {
    const found: string[] = []
    eachWord(text, (word) => found.push(word))
    return found
  }

  it.each([
    ['only plain words here', []],
    ['see src/a.ts and "x-1y2" (key_name)', ['src/a.ts', 'x-1y2', 'key_name']],
    ['a=b1234,c5678;d9012|e3456&f7890', ['b1234', 'c5678', 'd9012', 'e3456', 'f7890']],
    ['a1b a1bc', ['a1bc']],
    ['1-2-3-4 12-3 123-4', ['123-4']],
    ['..main.ts.. :key_a: v1.2.3', ['main.ts', 'key_a']],
    ['…abc1…def2→ghi3\u00a0jkl4\u3000mno5', ['abc1', 'def2', 'ghi3', 'jkl4', 'mno5']],
    ['straße_1 日本_abc', ['straße_1', '日本_abc']],
    ["'its_a' `bcd_e` <efg_h> {hij_k} [klm_n]", ['its_a', 'bcd_e', 'efg_h', 'hij_k', 'klm_n']],
    ['abc1', ['abc1']],
  ])('finds the names in %j', (text, expected) => {
    expect(words(text)).toEqual(expected)
  })

  it('takes names of 4 to 160 characters', () => {
    expect(words('abc')).toEqual([])
    expect(words(`a1${'b'.repeat(158)}`)).toHaveLength(1)
    expect(words(`a1${'b'.repeat(159)}`)).toEqual([])
    expect(words(`a1${'b'.repeat(158)}.`)).toHaveLength(1)
  })
})
