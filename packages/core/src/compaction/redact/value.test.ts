import { describe, expect, it } from 'vitest'
import { isStandIn, isWordy, looksRandom } from './randomness.ts'
import { bareValue, openingQuote, quotedValue, VALUE_CHARACTERS_MAX } from './value.ts'

describe('quotedValue', () => {
  it.each([
    ['one word', 'sword" x', '"', 'sword'],
    ['blanks and other quotes', 'it\'s `a` phrase" x', '"', "it's `a` phrase"],
    ['an escaped quote', 'sw\\"ord" x', '"', 'sw\\"ord'],
    ['an escaped backslash before the end', 'sword\\\\" x', '"', 'sword\\\\'],
    ['a quote that SQL doubles', "sw''ord' x", "'", "sw''ord"],
    ['a quote that a shell leaves and enters again', "sw'\\''ord' x", "'", "sw'\\''ord"],
    ['a doubled quote with nothing behind it', "sword'' x", "'", 'sword'],
    ['a doubled quote of another kind', 'sw""ord" x', '"', 'sw'],
    ['an escaped opening', 'sw"ord\\" x', '\\"', 'sw"ord'],
    ['a prefixed opening', "sword' x", "b'", 'sword'],
    ['nothing', '" x', '"', undefined],
    ['nothing, escaped', '\\" x', '\\"', undefined],
    ['a line that ends before the quote', 'sword fish\n" x', '"', 'sword'],
    ['a carriage return before the quote', 'sword fish\r\n" x', '"', 'sword'],
    ['a text that was cut', 'sword', '"', 'sword'],
    ['a text that was cut at once', '', '"', undefined],
  ])('reads %s', (_, text, opened, value) => {
    const before = 'key='
    expect(quotedValue(before + text, before.length, opened)).toBe(value)
  })

  it('looks for the closing quote only so far', () => {
    const longest = 'a'.repeat(VALUE_CHARACTERS_MAX - 1)
    expect(quotedValue(`${longest}" x`, 0, '"')).toBe(longest)
    const cut = quotedValue(`a b${longest}"`, 0, '"')
    expect(cut).toBe('a')
  })
})

describe('openingQuote', () => {
  it.each([
    ['"x"', '"'],
    ["'x'", "'"],
    ['`x`', '`'],
    ['b"x"', 'b"'],
    ["$'x'", "$'"],
    ['b`x`', ''],
    ['\\"x\\"', '\\"'],
    ['\\\\\\"x', '\\\\\\"'],
    ['\\\\\\\\"x', '\\\\\\\\"'],
    ['\\\\\\\\\\"x', ''],
    ['x"', ''],
    ['', ''],
  ])('of %s is %s', (text, quote) => {
    expect(openingQuote(`= ${text}`, 2)).toBe(quote)
  })
})

describe('bareValue', () => {
  it.each([
    ['sword fish', 'sword'],
    ['sword.', 'sword'],
    ['sword?! x', 'sword'],
    ['...', undefined],
    ['', undefined],
    ['(x)', undefined],
    ['read(x)', undefined],
    ['read(', undefined],
    ['sw#rd(x)', 'sw#rd(x'],
    ['sword(x', 'sword(x'],
    ['sw;ord', 'sw;ord'],
    ['sw; ord', 'sw'],
    ['sw;port=1', 'sw'],
    ['sw&ord', 'sw&ord'],
    ['sw</a>', 'sw'],
    ['sw<3x', 'sw<3x'],
    ['sw\\&ord x', 'sw\\&ord'],
    ['sw\\nord', 'sw'],
  ])('of %s is %s', (text, value) => {
    expect(bareValue(`= ${text}`, 2)).toBe(value)
  })

  it('ends at every & of a query', () => {
    expect(bareValue('sw&ord', 0, true)).toBe('sw')
  })

  it('goes on for so many characters behind the first sign that could end it', () => {
    const value = bareValue(`a${';b'.repeat(100)}`, 0)
    expect(value).toBe(`a${';b'.repeat(64)}`)
  })
})

describe('isStandIn', () => {
  it.each([
    ...[
      'null',
      'NONE',
      'string',
      'redacted',
      'Password',
      'yes',
      '****',
      'xxxx',
      '...',
      '•••',
      '---',
    ],
    ...[
      '$PASSWORD',
      '$'.concat('{PASSWORD}'),
      '$(cat a)',
      '%s',
      '%(name)s',
      '<your key>',
      '<key',
      '{key}',
    ],
    ...[
      '[hidden]',
      '(none)',
      '@password',
      '!secret',
      '\\n',
      'process.env.KEY',
      'os.environ',
      'env.A',
    ],
    ...['args.key', '--', '…', 'a$'.concat('{B}c'), 'a{{b}}', 'args.password'],
  ])('takes %s for a placeholder', (value) => {
    expect(isStandIn(value)).toBe(true)
  })

  it.each([
    ...['hunter2', 'nullable', 'my-password', '*a*', 'xxy', 'a$b', '100%', 'abc[1]', 'nothing'],
    ...['<a><b>', 'a@b', 'environment'],
  ])('takes %s for a value', (value) => {
    expect(isStandIn(value)).toBe(false)
  })
})

describe('looksRandom', () => {
  it.each([
    ['a value of 16 mixed characters', 'a8f3k2q9z7x1m4b6', true],
    ['one of 15', 'a8f3k2q9z7x1m4b', false],
    ['hex', '3f2a9c1d7b8e4f60', true],
    ['letters alone', 'qwertyuiopasdfgh', false],
    ['digits alone', '1234567890123456', false],
    ['words and numbers', 'claude-sonnet-4-5-20250929', false],
    ['a name in capitals', 'PKCS7KeyTypesForAll', false],
    ['two characters in turn', 'a1a1a1a1a1a1a1a1', false],
    ['a long value with little in it at first', `${'a1'.repeat(100)}3f2a9c1d7b8e4f60`, false],
  ])('judges %s', (_, value, expected) => {
    expect(looksRandom(value)).toBe(expected)
  })

  it.each([
    ...['gpt-4o', 'us-east-1', 'main.example:8080', 'camelCaseWord', 'UTF8', 'abc_DEF_12', ''],
  ])('takes %s for words', (value) => {
    expect(isWordy(value)).toBe(true)
  })

  it.each(['a1b2c3', 'x9fK2', '12345678901', 'a+b'])('takes %s for no words', (value) => {
    expect(isWordy(value)).toBe(false)
  })
})
