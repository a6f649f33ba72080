import { describe, expect, it } from 'vitest'
import {
  checkBelowWindow,
  checkCount,
  checkDelay,
  checkFunction,
  checkKey,
  checkKeys,
  checkNumber,
  checkOneOf,
  checkSignal,
  checkString,
  checkText,
  checkTokens,
  show,
} from './option-checks.ts'
import { ThroughlineError } from './throughline-error.ts'

/** What is said of a wrong value, after its place; null of a right one. */
function told(check: () => void): string | null {
  try {
    check()
    return null
  } catch (error) {
    if (!(error instanceof ThroughlineError)) throw error
    const { code, at, message, retryable } = error
    expect([code, retryable]).toEqual(['invalid-option', false])
    return `${at}: ${message}`
  }
}

const DAYS = 2_147_483_647

describe('an option', () => {
  it.each<[string, () => void, string | null]>([
    ['of a known name', () => checkKeys({ a: 1, b: undefined }, ['a', 'b', 'c']), null],
    ['of none', () => checkKeys({}, []), null],
    [
      'of an unknown name',
      () => checkKeys({ a: 1, d: 2, e: 3 }, ['a', 'b']),
      'd: There is no option "d". The options are a, b.',
    ],
    [
      'of an unknown name in another',
      () => checkKeys({ d: 2 }, ['a', 'b'], 'retry'),
      'retry.d: There is no option "d" in "retry". The options are a, b.',
    ],
    ['as a list', () => checkKeys([], ['a']), 'options: "options" is an array. Give an object.'],
    ['as nothing', () => checkKeys(null, ['a'], 'q'), 'q: "q" is null. Give an object.'],
    ['as a text', () => checkKeys('a', ['a'], 'q'), 'q: "q" is "a". Give an object.'],
    ['key of one character', () => checkKey('k'), null],
    ['key of 200 characters', () => checkKey('k'.repeat(200)), null],
    [
      'key that is empty',
      () => checkKey(''),
      'key: "key" is "". It is a text of 1 to 200 characters that names this message.',
    ],
    [
      'key of 201 characters',
      () => checkKey('k'.repeat(201)),
      `key: "key" is "${'k'.repeat(59)}…. It is a text of 1 to 200 characters that names this message.`,
    ],
    [
      'key that is a number',
      () => checkKey(7),
      'key: "key" is 7. It is a text of 1 to 200 characters that names this message.',
    ],
    ['tokens: none', () => checkTokens('t', undefined), null],
    ['tokens: 1,000', () => checkTokens('t', 1_000), null],
    [
      'tokens: 999',
      () => checkTokens('t', 999),
      't: "t" is 999. It is a number of tokens, at least 1,000.',
    ],
    ['tokens: 1 of at least 1', () => checkTokens('t', 1, 1), null],
    [
      'tokens: 0 of at least 1',
      () => checkTokens('t', 0, 1),
      't: "t" is 0. It is a number of tokens.',
    ],
    ['tokens: 0 of at least 0', () => checkTokens('t', 0, 0), null],
    [
      'tokens: 1 of at least 2',
      () => checkTokens('t', 1, 2),
      't: "t" is 1. It is a number of tokens, at least 2.',
    ],
    [
      'tokens: a broken number',
      () => checkTokens('t', 1_000.5),
      't: "t" is 1000.5. It is a number of tokens, at least 1,000.',
    ],
    [
      'tokens: no safe number',
      () => checkTokens('t', 2 ** 53),
      't: "t" is 9007199254740992. It is a number of tokens, at least 1,000.',
    ],
    ['part of the window: all of it', () => checkBelowWindow('p', 8, 8), null],
    ['part of the window: none given', () => checkBelowWindow('p', undefined, 8), null],
    ['part of no window', () => checkBelowWindow('p', 8, undefined), null],
    [
      'part of the window: more',
      () => checkBelowWindow('p', 9, 8),
      'p: "p" is 9, but the whole "contextWindow" is 8.',
    ],
    ['count: none', () => checkCount('n', undefined, 'steps'), null],
    ['count: 1', () => checkCount('n', 1, 'steps'), null],
    [
      'count: 0',
      () => checkCount('n', 0, 'steps'),
      'n: "n" is 0. It is a number of steps, at least 1.',
    ],
    ['delay: none', () => checkDelay('d', undefined), null],
    ['delay: the longest', () => checkDelay('d', DAYS), null],
    [
      'delay: longer',
      () => checkDelay('d', DAYS + 1),
      'd: "d" is 2147483648. It is at most 2147483647 milliseconds (24 days).',
    ],
    [
      'delay: 0',
      () => checkDelay('d', 0),
      'd: "d" is 0. It is a number of milliseconds, at least 1.',
    ],
    ['number: 1', () => checkNumber('n', 1), null],
    ['number: 0', () => checkNumber('n', 0), 'n: "n" is 0. It is a whole number, at least 1.'],
    ['number: 0 of at least 0', () => checkNumber('n', 0, 0), null],
    [
      'number: -1 of at least 0',
      () => checkNumber('n', -1, 0),
      'n: "n" is -1. It is a whole number, at least 0.',
    ],
    [
      'number: none',
      () => checkNumber('n', undefined),
      'n: "n" is undefined. It is a whole number, at least 1.',
    ],
    ['one of words: none', () => checkOneOf('w', undefined, ['a', 'b']), null],
    ['one of words: the last', () => checkOneOf('w', 'b', ['a', 'b']), null],
    [
      'one of words: another',
      () => checkOneOf('w', 'c', ['a', 'b']),
      'w: "w" is "c". It is one of "a", "b".',
    ],
    ['string: none', () => checkString('s', undefined), null],
    ['string: empty', () => checkString('s', ''), null],
    ['string: a number', () => checkString('s', 5), 's: "s" is 5, not a string.'],
    ['text: one', () => checkText('s', 'a'), null],
    ['text: empty', () => checkText('s', ''), 's: "s" is "". Give a text that is not empty.'],
    [
      'text: a list',
      () => checkText('s', ['a']),
      's: "s" is an array. Give a text that is not empty.',
    ],
    ['function: one', () => checkFunction('f', () => 5), null],
    ['function: none', () => checkFunction('f', undefined), 'f: "f" is undefined, not a function.'],
    ['signal: none', () => checkSignal(undefined), null],
    ['signal: one', () => checkSignal(new AbortController().signal), null],
    [
      'signal: its controller',
      () => checkSignal(new AbortController()),
      'signal: "signal" is an object, not an AbortSignal. Of a controller, give `controller.signal`.',
    ],
  ])('%s', (_, check, problem) => {
    expect(told(check)).toBe(problem)
  })
})

it('a value of a wrong kind is shown in a few words', () => {
  const values = [() => 5, Promise.resolve(), [], {}, null, undefined, 5n, 'a"b', 'x'.repeat(59)]
  expect(values.map(show)).toEqual([
    ...['a function', 'a promise (await it first)', 'an array', 'an object', 'null'],
    ...['undefined', '5', '"a\\"b"', `"${'x'.repeat(59)}…`],
  ])
  expect(show('x'.repeat(58))).toBe(`"${'x'.repeat(58)}"`)
})
