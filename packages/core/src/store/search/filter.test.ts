import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../../../test/support/seeded-random.ts'
import type { Entry } from '../tables/rows.ts'
import { ByteReader, ByteWriter, compareBytes } from './bytes.ts'
import {
  entryFilter,
  isFilteredByEntry,
  isTyped,
  phrasesIn,
  storedFilter,
  verifier,
} from './filter.ts'
import { isWithin, ownSession, renumbered } from './parts.ts'
import { cutPassages, PASSAGE_CHARACTERS_MAX } from './passages.ts'
import { closestRoot, isComparable, mayBeMistyped } from './similar.ts'

type Query = Parameters<typeof storedFilter>[0]
const query = (changed: object = {}) =>
  ({ text: 'a', sessionId: 's', limit: 5, ...changed }) as Query

describe('phrasesIn', () => {
  it.each([
    ['plain words', []],
    ['say "two words" now', ['two words']],
    ['"one" "two"', ['one', 'two']],
    ['" spaced "', ['spaced']],
    ['a"b"c', []],
    ['x "open', []],
    ['"--"', []],
    ['"é"', ['é']],
    [`"one" ${'x'.repeat(194)}`, ['one']],
    [`"one" ${'x'.repeat(195)}`, []],
    ['"one"\ntwo', []],
  ])('of %j', (text, phrases) => {
    expect(phrasesIn({ text })).toEqual(phrases)
  })

  it('returns the whole text of an exact search', () => {
    expect(phrasesIn({ text: ' a "b" \nc ', exact: true })).toEqual(['a "b" \nc'])
  })

  it('takes texts that are long or have several lines to be pasted, not typed', () => {
    expect([isTyped('x'.repeat(200)), isTyped('x'.repeat(201)), isTyped('a\nb')]).toEqual([
      ...[true, false, false],
    ])
  })
})

describe('the filter of a search', () => {
  const entry = (changed: Partial<Record<keyof Entry, unknown>>) =>
    ({ kind: 'input', number: 9, at: 10, meta: {}, body: null, ...changed }) as unknown as Entry
  const said = (text: string, role = 'user') =>
    JSON.stringify({ role, parts: [{ type: 'text', text }] })
  const calls = (...names: readonly string[]) =>
    JSON.stringify({
      role: 'assistant',
      parts: names.map((name, at) => ({ type: 'tool-call', id: `c${at}`, name, input: {} })),
    })
  /** Whether an entry passes; `earlier` are the entries before it. */
  const passes = (changed: object, hit: Entry, earlier: readonly Entry[] = []) => {
    const asked = query(changed)
    const steps = storedFilter(asked, verifier(asked, phrasesIn(asked)))({ entry: hit } as never, 3)
    const ranges: unknown[] = []
    let step = steps.next()
    while (!step.done) {
      ranges.push(step.value)
      step = steps.next([earlier] as never)
    }
    return { passes: step.value, ranges }
  }

  it('accepts entries from `since` on and before `until`', () => {
    const at = (changed: object) => passes(changed, entry({ at: 10 })).passes
    expect([at({ since: 10 }), at({ since: 11 }), at({ until: 11 }), at({ until: 10 })]).toEqual([
      ...[true, false, true, false],
    ])
  })

  it('requires every phrase and the path, ignoring case and white space', () => {
    const hit = entry({ body: said('See  src/Main.ts,\nTHEN run it') })
    const has = (changed: object) => passes(changed, hit).passes
    expect(has({ text: '"then RUN"' })).toBe(true)
    expect(has({ text: '"main.ts, then"' })).toBe(true)
    expect(has({ text: '"then run" "missing words"' })).toBe(false)
    expect(has({ path: 'SRC/main.ts' })).toBe(true)
    expect(has({ path: 'src/other.ts' })).toBe(false)
  })

  it('takes the tool of a result from the newest call with its id', () => {
    const reply = entry({ kind: 'assistant', number: 7, body: calls('read', 'write') })
    expect(passes({ tool: 'write' }, reply).passes).toBe(true)
    expect(passes({ tool: 'grep' }, reply).passes).toBe(false)
    expect(passes({ tool: 'read' }, entry({ body: said('read') })).passes).toBe(false)
    const result = (call: string) => entry({ kind: 'result', number: 9, meta: { call } })
    expect(passes({ tool: 'write' }, result('c1'), [reply])).toMatchObject({
      passes: true,
      ranges: [{ want: 'entries', ranges: [{ session: 3, from: 1, to: 8 }] }],
    })
    expect(passes({ tool: 'read' }, result('c1'), [reply]).passes).toBe(false)
    expect(passes({ tool: 'write' }, result('c9'), [reply]).passes).toBe(false)
    const newer = entry({ kind: 'assistant', number: 8, body: calls('grep', 'grep') })
    expect(passes({ tool: 'write' }, result('c1'), [reply, newer]).passes).toBe(false)
    expect(passes({ tool: 'grep' }, result('c1'), [reply, newer]).passes).toBe(true)
  })

  it('looks for the call of a result in the 40 entries before it', () => {
    const late = entry({ kind: 'result', number: 100, meta: { call: 'c0' } })
    expect(passes({ tool: 'read' }, late).ranges).toMatchObject([
      { ranges: [{ session: 3, from: 60, to: 99 }] },
    ])
    const first = entry({ kind: 'result', number: 1, meta: { call: 'c0' } })
    expect(passes({ tool: 'read' }, first)).toEqual({ passes: false, ranges: [] })
  })

  it('needs no entry if the query has no conditions', () => {
    expect(verifier(query(), [])).toBeNull()
    expect(entryFilter(query(), {} as never)).toBeNull()
    expect(
      [{}, { since: 0 }, { until: 0 }, { speaker: 'user' }].map((each) =>
        isFilteredByEntry(query(each)),
      ),
    ).toEqual([...[false, true, true, true]])
  })

  it('reads time, speaker and last entry from the index', () => {
    const table = {
      identify: (at: number) => ({ session: at % 2, number: at }),
      timeOf: (at: number) => at * 10,
      entrySpeakerOf: (at: number) => (at > 4 ? 'agent' : 'user'),
    } as never
    const found = (changed: object, lasts: readonly number[] | null = null) => {
      const filter = entryFilter(query(changed), table, lasts)
      return [1, 2, 3, 4, 5, 6].filter((at) => filter?.(at))
    }
    expect(found({ since: 30 })).toEqual([3, 4, 5, 6])
    expect(found({ until: 30 })).toEqual([1, 2])
    expect(found({ speaker: 'user' })).toEqual([1, 2, 3, 4])
    expect(found({ since: 20, until: 60, speaker: 'agent' })).toEqual([5])
    expect(found({}, [4, 3])).toEqual([1, 2, 3, 4])
    expect(found({ since: 20 }, [9])).toEqual([2, 3, 4, 5, 6])
  })
})

describe('the sessions of a search', () => {
  it('are the open ones of the agent and the scope that it names', () => {
    const row = { id: 's', agent: 'main', scope: 'team', state: 'open', tail: 1 } as never
    const within = (searched: object, of = row) => isWithin(searched as never, of)
    expect([within({}), within({ agent: 'main' }), within({ agent: 'other' })]).toEqual([
      ...[true, true, false],
    ])
    expect([within({ scope: 'team' }), within({ scope: 'x' })]).toEqual([true, false])
    expect(within({}, { ...(row as object), state: 'purged' } as never)).toBe(false)
  })

  it('begin with the session in which the search was requested', () => {
    expect(ownSession('a' as never)).toBe('a')
    expect(ownSession(['b', 'c'] as never)).toBe('b')
    expect(ownSession({ here: 'd' } as never)).toBe('d')
  })

  it('number the entries of a fork from its own first entry', () => {
    expect([
      renumbered({ number: 9 as never }, 4).number,
      renumbered({ number: 9 as never }, 0).number,
    ]).toEqual([5, 9])
  })
})

describe('cutPassages', () => {
  const lengths = (text: string) => cutPassages(text).map(({ length }) => length)

  it('keeps a text of 300 characters whole', () => {
    expect(lengths('a'.repeat(300))).toEqual([300])
    expect(lengths('a'.repeat(301))).toEqual([300, 1])
  })

  it.each([
    ['after a line', `${'a'.repeat(200)}\n${'b. '.repeat(60)}`, 201],
    [
      'after the last line within',
      `${'a'.repeat(160)}\n${'b'.repeat(60)}\n${'c'.repeat(200)}`,
      222,
    ],
    ['after a sentence', `${'a'.repeat(198)}. ${'b '.repeat(90)}`, 199],
    ['after a sentence of another script', `${'a'.repeat(198)}。${'b '.repeat(90)}`, 199],
    [
      'not after a point within a word',
      `${'a'.repeat(198)}.${'b'.repeat(20)} ${'c'.repeat(200)}`,
      220,
    ],
    ['after a word', `${'a'.repeat(180)} ${'b'.repeat(200)}`, 181],
    [
      'in a word where the first half alone has a blank',
      `${'a'.repeat(148)} ${'b'.repeat(300)}`,
      300,
    ],
    ['before a character of two units', `${'a'.repeat(299)}😀${'b'.repeat(9)}`, 299],
  ])('cuts %s', (_, text, first) => {
    expect(lengths(text)[0]).toBe(first)
  })

  it('leaves out passages without a letter or digit, and loses nothing else', () => {
    expect(cutPassages(`${'-'.repeat(300)}a`)).toEqual(['a'])
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '.', '\n', '。', '😀'),
      maxLength: 900,
    })
    fc.assert(
      fc.property(text, (each) => {
        const passages = cutPassages(each)
        for (const { length } of passages)
          expect(length).toBeLessThanOrEqual(PASSAGE_CHARACTERS_MAX)
        expect(passages.join('').replaceAll(/[^a]/g, '')).toBe(each.replaceAll(/[^a]/g, ''))
      }),
      { numRuns: tries(200) },
    )
  })
})

describe('closestRoot', () => {
  it.each([
    ['compation', ['compaction', 'company', 'compass'], 'compaction'],
    ['retrun', ['return'], null],
    ['summry', ['summary', 'rummary'], 'summary'],
    ['handof', ['handoff', 'handoffs'], 'handoff'],
    ['abcdef', ['abcdefghij'], null],
    ['abcdefgh', ['abcdefghijk'], 'abcdefghijk'],
    ['letter', [], null],
    ['window', ['windows', 'windowx'], 'windows'],
    ['window', ['windowx', 'windows'], 'windows'],
  ])('of %s among %j', (root, known, expected) => {
    expect(closestRoot(root, known)).toBe(expected)
  })

  it('compares words with the same first letter and at most three letters more', () => {
    expect(isComparable('abcd', 'abcdefg')).toBe(true)
    expect(isComparable('abcd', 'abcdefgh')).toBe(false)
    expect(isComparable('abcd', 'bbcd')).toBe(false)
  })

  it('corrects words of five letters and more', () => {
    expect(['word', 'words', 'wörds', 'word5', 'a-bcd'].map(mayBeMistyped)).toEqual([
      ...[false, true, true, false, false],
    ])
  })
})

describe('ByteWriter and ByteReader', () => {
  it('give back every number and every byte, in as few bytes as they need', () => {
    const size = (value: number) => {
      const writer = new ByteWriter()
      writer.putNumber(value)
      return writer.take().length
    }
    expect([0, 127, 128, 16_383, 16_384, 2 ** 40].map(size)).toEqual([1, 1, 2, 2, 3, 6])
    fc.assert(
      fc.property(
        fc.array(fc.maxSafeNat(), { maxLength: 80 }),
        fc.uint8Array(),
        (numbers, bytes) => {
          const writer = new ByteWriter()
          writer.put(7)
          for (const each of numbers) writer.putNumber(each)
          writer.putBytes(bytes)
          const reader = new ByteReader(writer.take())
          expect(reader.next()).toBe(7)
          expect(numbers.map(() => reader.nextNumber())).toEqual(numbers)
          expect(reader.isAtEnd).toBe(bytes.length === 0)
          expect(reader.take(bytes.length)).toEqual(bytes)
          expect(reader.isAtEnd).toBe(true)
          expect(writer.length).toBe(0)
        },
      ),
      { numRuns: tries(100) },
    )
  })

  it('grow for long bytes, and start over', () => {
    const writer = new ByteWriter()
    const long = new Uint8Array(1_000).fill(3)
    writer.putBytes(new Uint8Array(255))
    writer.putBytes(long)
    writer.put(1)
    expect(writer.take()).toEqual(new Uint8Array([...new Uint8Array(255), ...long, 1]))
    writer.put(2)
    expect(writer.take()).toEqual(new Uint8Array([2]))
  })

  it('notice that bytes are missing', () => {
    const bytes = new Uint8Array([1, 200])
    expect(() => new ByteReader(bytes, 2).next()).toThrow('damaged')
    expect(() => new ByteReader(bytes, 1).nextNumber()).toThrow('damaged')
    expect(() => new ByteReader(bytes).take(3)).toThrow('damaged')
    expect(new ByteReader(bytes).take(2)).toEqual(bytes)
  })

  it('order bytes like text', () => {
    const of = (...bytes: readonly number[]) => new Uint8Array(bytes)
    const sorted = [of(), of(1), of(1, 0), of(1, 2), of(2)]
    for (const [a, one] of sorted.entries()) {
      for (const [b, other] of sorted.entries()) {
        expect(Math.sign(compareBytes(one, other))).toBe(Math.sign(a - b))
      }
    }
  })
})
