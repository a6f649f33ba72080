import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { visibleText } from '../../../../../test/gateways/bot-api-server.ts'
import { tries } from '../../../../../test/support/seeded-random.ts'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import { renderTelegramHtml } from '../telegram/html.ts'
import { type InlineMark, marksAround, readMarks } from './inline.ts'
import { splitText } from './split.ts'

const words = (text: string) => text.split(INVISIBLE).filter((word) => word !== '')
/** A message of these alone is not sent. */
const INVISIBLE = /[\s\p{Cc}\p{Cf}\p{Mn}\u115f\u1160\u2800\u3164\uffa0]+/u

const MARKS = /[`*_~|#>[\]]/g

describe('splitText', () => {
  it('leaves a text that fits unchanged', () => {
    expect(splitText('one\n\ntwo', 100)).toEqual(['one\n\ntwo'])
  })

  it('cuts between paragraphs before lines, lines before sentences, sentences before words', () => {
    expect(splitText('aaaa bbbb.\n\ncccc dddd. eeee', 20)).toEqual([
      'aaaa bbbb.',
      'cccc dddd. eeee',
    ])
    expect(splitText('aaaa bbbb\ncccc dddd eeee', 20)).toEqual(['aaaa bbbb', 'cccc dddd eeee'])
    expect(splitText('aaaa bbb. cccc dddd eeee', 20)).toEqual(['aaaa bbb.', 'cccc dddd eeee'])
  })

  it('closes a code block at a cut and opens it again', () => {
    const code = Array.from({ length: 12 }, (_, at) => `line ${at}`).join('\n')
    const pieces = splitText(`Look:\n\`\`\`ts\n${code}\n\`\`\`\nDone.`, 60)
    expect(pieces.length).toBeGreaterThan(1)
    for (const piece of pieces) {
      expect(piece.split('\n').filter((line) => line.startsWith('```')).length % 2).toBe(0)
    }
    expect(pieces[1]?.startsWith('```ts\n')).toBe(true)
  })

  it.each([
    ['**one two three four five**', ['**one two three**', '**four five**']],
    ['a **one *two three* four** b', ['a **one *two*\u200b**', '***three* four** b']],
    ['> ~~one two three four five~~', ['> ~~one two three~~', '> ~~four five~~']],
    ['`one two three four five`', ['`one two three`', '`four five`']],
    ['# one two three four five', ['# one two three', '# four five']],
    [`**${'a'.repeat(30)}**`, [`**${'a'.repeat(16)}**`, `**${'a'.repeat(14)}**`]],
    ['- aaa aaa **bbb bbb bbb bbb bbb**', ['- aaa aaa', '**bbb bbb bbb bbb bbb**']],
    ['aa **bbbbbbbbbbbbbbbbb ccc** dd', ['aa **bbbbbbbbbbbbb**', '**bbbb ccc** dd']],
    ['x \\*\\*\\* aaaaaaaaaaaaaa \\*b', ['x \\*\\*\\*', 'aaaaaaaaaaaaaa \\*b']],
  ])('closes the marks of %j and opens them again', (text, pieces) => {
    expect(splitText(text, 24)).toEqual(pieces)
  })

  it('opens no code block for backticks around a few words', () => {
    const pieces = splitText(`\`\`\`ls\`\`\` lists.\n${'word '.repeat(20)}`, 60)
    expect(pieces.slice(1).join('')).not.toContain('`')
  })

  it('loses no word, keeps every piece within the limit, and splits no character', () => {
    const text = fc.array(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('\n\n'), fc.constant('a. b')),
    )
    fc.assert(
      fc.property(text, fc.integer({ min: 12, max: 80 }), (parts, lengthMax) => {
        // Marks of a cut line are written twice; the next test is about them.
        const whole = parts.join(' ').replaceAll(MARKS, "'").toWellFormed()
        const pieces = splitText(whole, lengthMax)
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(lengthMax)
          expect(piece.isWellFormed()).toBe(true)
        }
        expect(words(pieces.join('')).join('')).toBe(words(whole).join(''))
      }),
    )
  })

  it('every piece renders on its own, and together they render like the whole', () => {
    const word = fc.constantFrom('stone', 'a', 'rivers', 'of', 'snake_case', 'überall', '🪨')
    const phrase = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(' '))
    const link = (text: string) => `[${text}](https://x.example/?a=1)`
    const inner = fc.oneof(
      phrase,
      phrase.map((text) => `*${text}*`),
      phrase.map(link),
    )
    const marked = fc.oneof(
      ...[phrase, phrase.map((text) => `\`${text}\``), phrase.map((text) => `_${text}_`)],
      fc
        .array(inner, { minLength: 1, maxLength: 4 })
        .map((all) => `**so ${all.join(' and ')} there**`),
      inner.map((text) => `~~${text}~~`),
    )
    const line = fc
      .tuple(
        fc.constantFrom('', '> ', '## ', '- '),
        fc.array(marked, { minLength: 1, maxLength: 4 }),
      )
      .map(([prefix, all]) => prefix + all.join(' then '))
    const lines = fc.array(line, { minLength: 1, maxLength: 4 }).map((all) => all.join('\n'))
    const visible = (text: string) =>
      words((visibleText(renderTelegramHtml(text)) ?? '?').replaceAll('\u200b', ''))
    fc.assert(
      fc.property(lines, fc.integer({ min: 200, max: 600 }), (text, lengthMax) => {
        const pieces = splitText(text, lengthMax)
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(lengthMax)
        expect(pieces.flatMap(visible)).toEqual(visible(text))
      }),
      { numRuns: tries(500) },
    )
  })

  it.each([
    ['a family', '👩‍👩‍👧‍👦'],
    ['a flag', '🇺🇦'],
    ['a letter with its marks', 'נִּ'],
    ['a syllable', 'क्षि'],
  ])('cuts through no %s', (_what, character) => {
    const pieces = splitText(character.repeat(100), 70)
    expect(pieces.join('')).toBe(character.repeat(100))
    for (const piece of pieces) expect(piece.replaceAll(character, '')).toBe('')
  })

  it.each([
    [16, [12, 12, 5]],
    [17, [12, 17]],
    [18, [14, 15]],
  ])('cuts what is longer than a piece of %i, within no code point', (max, lengths) => {
    const text = `\u{1f469}${'\u200d\u{1f469}'.repeat(9)}`
    const pieces = splitText(text, max)
    expect(pieces.join('')).toBe(text)
    expect(pieces.map(({ length }) => length)).toEqual(lengths)
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
  })

  it('gives no piece for a text without visible characters', () => {
    for (const text of ['', ' \n\t', '\u200b\u200d', '\u2800\u3164', '\u0000']) {
      expect(splitText(text, 100)).toEqual([])
    }
  })

  it('keeps every piece within the limit, with any code fences', () => {
    const line = fc.constantFrom('```', '```ts', 'code', '', 'some words here', '    ```')
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 60 }),
        fc.integer({ min: 64, max: 120 }),
        (lines, max) => {
          for (const piece of splitText(lines.join('\n'), max)) {
            expect(piece.length).toBeLessThanOrEqual(max)
          }
        },
      ),
    )
  })

  it('all pieces but the last stay unchanged while the text grows', () => {
    const text = Array.from(
      { length: 400 },
      (_, at) => `word${at}${at % 9 === 0 ? '\n' : ''}`,
    ).join(' ')
    let before: readonly string[] = []
    for (let end = 0; end <= text.length; end += 37) {
      const now = splitText(text.slice(0, end), 200)
      expect(now.slice(0, Math.max(0, before.length - 1))).toEqual(before.slice(0, -1))
      before = now
    }
  })

  it('takes ten times as long for ten times the text', () => {
    const prepare = (length: number) => {
      const text = '[`*_ a'.repeat(length / 6)
      return () => splitText(text, 4_000)
    }
    expect(costOfTenfold(prepare, { size: 100_000 })).toBeLessThan(15)
  })
})

/** Spans as a tree: `b(one i(two))`. */
function tree(text: string, marks: readonly InlineMark[] = readMarks(text)): string {
  const inside = (mark: InlineMark) => {
    const parts: string[] = []
    let from = mark.innerFrom
    for (const each of mark.marks) {
      parts.push(text.slice(from, each.from), show(each))
      from = each.to
    }
    return parts.join('') + text.slice(from, mark.innerTo)
  }
  const show = (mark: InlineMark): string => {
    const { kind, from, innerFrom, innerTo, to, open, close, address } = mark
    expect([text.slice(from, innerFrom), text.slice(innerTo, to)]).toEqual([open, close])
    const label = address === undefined ? kind : `${kind}:${address}`
    return `${label}(${inside(mark)})`
  }
  let out = ''
  let at = 0
  for (const mark of marks) {
    out += text.slice(at, mark.from) + show(mark)
    at = mark.to
  }
  return out + text.slice(at)
}

describe('readMarks', () => {
  it.each([
    ['**one** two', 'b(one) two'],
    ['__one__', 'b(one)'],
    ['~~one~~', 's(one)'],
    ['*one*', 'i(one)'],
    ['_one_', 'i(one)'],
    ['a **b *c* d** e', 'a b(b i(c) d) e'],
    ['**b ~~s~~ `c`**', 'b(b s(s) code(c))'],
    ['a *b* c *d*', 'a i(b) c i(d)'],
    ['x*y*z', 'xi(y)z'],
  ])('reads spans: %s', (text, expected) => {
    expect(tree(text)).toBe(expected)
  })

  it.each([
    ...['snake_case_name', 'a __b__c', 'a_b_', '_a_b', '2 * 3 * 4', '* one', '**one **', '*one *'],
    ...[
      '**',
      '****',
      '**one',
      'one_',
      '~~one',
      '`',
      '``',
      'a `b',
      '[a](b)',
      '[a]',
      '[a] (http://b)',
    ],
    ...['[a](javascript:b)', '[a](http://b c)', '[a](http://"b")', '\\a'],
  ])('leaves %s as text', (text) => {
    expect(tree(text)).toBe(text)
  })

  it.each([
    ['`one *two*`', 'code(one *two*)'],
    ['``a ` b``', 'code(a ` b)'],
    ['```a `` b```', 'code(a `` b)'],
    ['\\*one\\*', 'escaped(*)oneescaped(*)'],
    ['\\\\ \\[ \\_', 'escaped(\\) escaped([) escaped(_)'],
    ['**a\\**', 'b(a\\)'],
  ])('takes code and escaped characters as they are: %s', (text, expected) => {
    expect(tree(text)).toBe(expected)
  })

  it.each([
    ['[a](http://b)', 'link:http://b(a)'],
    ['[a](https://b/?c=1#d) e', 'link:https://b/?c=1#d(a) e'],
    ['[a](mailto:b@c)', 'link:mailto:b@c(a)'],
    ['[a](tg://user?id=1)', 'link:tg://user?id=1(a)'],
    ['[*a*](http://b)', 'link:http://b(i(a))'],
    ['[a [b](http://c)', '[a link:http://c(b)'],
    ['[a](x) [b](http://c)', '[a](x) link:http://c(b)'],
    ['[a](http://b) [c](http://d)', 'link:http://b(a) link:http://d(c)'],
    ['**[a](http://b)**', 'b(link:http://b(a))'],
    ['[a](http://b', '[a](http://b'],
  ])('reads links to web, mail and Telegram: %s', (text, expected) => {
    expect(tree(text)).toBe(expected)
  })

  it('takes addresses of 2,000 characters at most', () => {
    const link = (length: number) => `[a](http://${'b'.repeat(length - 7)})`
    expect(readMarks(link(2_000))).toHaveLength(1)
    expect(readMarks(link(2_001))).toEqual([])
  })

  it('counts offsets from the base', () => {
    const [mark] = readMarks('x **a _b_**', 100)
    expect(mark).toMatchObject({ kind: 'b', from: 102, innerFrom: 104, innerTo: 109, to: 111 })
    expect(mark?.marks).toMatchObject([{ kind: 'i', from: 106, innerFrom: 107, to: 109 }])
    const [link] = readMarks('[**a**](http://b)', 10)
    expect(link).toMatchObject({ kind: 'link', from: 10, innerFrom: 11, innerTo: 16, to: 27 })
    expect(link?.marks).toMatchObject([{ kind: 'b', from: 11, innerFrom: 13, innerTo: 14, to: 16 }])
    const [code, escaped] = readMarks('`a`\\*', 10)
    expect(code).toMatchObject({ from: 10, innerFrom: 11, innerTo: 12, to: 13 })
    expect(escaped).toMatchObject({ from: 13, innerFrom: 14, innerTo: 15, to: 15 })
  })

  it('orders spans without overlaps, each within the one around it', () => {
    const pieces = fc.constantFrom(
      '*',
      '**',
      '_',
      '__',
      '~~',
      '`',
      '[',
      '](http://a)',
      '\\',
      ' ',
      'a',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const check = (marks: readonly InlineMark[], from: number, to: number) => {
          let at = from
          for (const mark of marks) {
            expect(mark.from).toBeGreaterThanOrEqual(at)
            if (mark.kind !== 'link') expect(mark.innerTo).toBeGreaterThan(mark.innerFrom)
            check(mark.marks, mark.innerFrom, mark.innerTo)
            at = mark.to
          }
          expect(at).toBeLessThanOrEqual(to)
        }
        const text = parts.join('')
        check(readMarks(text), 0, text.length)
      }),
      { numRuns: tries(400) },
    )
  })
})

describe('marksAround', () => {
  const text = '*a* **b _c_ d** `e`'
  const marks = readMarks(text)

  it('gives the spans that a cut would split, outermost first', () => {
    const kinds = [...text, ''].map((_, at) =>
      marksAround(marks, at)
        .map(({ kind }) => kind)
        .join(),
    )
    expect(kinds).toEqual([
      ...['', 'i', 'i', '', '', 'b', 'b', 'b', 'b', 'b,i', 'b,i', 'b', 'b', 'b', 'b', ''],
      ...['', 'code', 'code', ''],
    ])
  })

  it('returns none for text without marks', () => {
    expect(marksAround([], 3)).toEqual([])
  })
})
