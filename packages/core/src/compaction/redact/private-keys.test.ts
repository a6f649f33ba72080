import { expect, it } from 'vitest'
import { made, WORD } from '../../../../../test/support/made-up.ts'
import { redact } from './redact.ts'

const BODY = [1, 2, 3].map((seed) => made(64, `${WORD}+/`, seed))
const LINES = [
  '-----BEGIN RSA PRIVATE KEY-----',
  ...BODY,
  'AbCd12==',
  '-----END RSA PRIVATE KEY-----',
]

const printed: readonly (readonly [how: string, mark: (line: string, index: number) => string])[] =
  [
    ['as it is', (line) => line],
    ['with line numbers (cat -n)', (line, index) => `     ${index + 1}\t${line}`],
    ['with line numbers (an agent)', (line, index) => `${index + 1}→${line}`],
    ['by grep -n', (line, index) => `${index + 1}:${line}`],
    ['by grep -rn', (line, index) => `keys/id-rsa.pem:${index + 1}:${line}`],
    ['by grep -A', (line, index) => `keys/id-rsa.pem-${index + 1}-${line}`],
    ['in a quotation', (line) => `> ${line}`],
    ['in a quotation of a quotation', (line) => `> > ${line}`],
    ['added by a diff', (line) => `+${line}`],
    ['removed by a diff', (line) => `-${line}`],
    ['in a table', (line) => `| ${line}`],
    ['indented', (line) => `    ${line}`],
  ]

it.each(printed)('masks a private key %s', (_, mark) => {
  const text = `before\n${LINES.map(mark).join('\n')}\nafter`
  expect(redact(text)).toMatch(/^before\n.{0,30}\[secret:private-key\]\nafter$/)
})

it.each(printed)('masks a private key without its first line, %s', (_, mark) => {
  const text = `before\n${LINES.slice(1).map(mark).join('\n')}\nafter`
  expect(redact(text)).toMatch(/^before\n.{0,30}\[secret:private-key\]\nafter$/)
})

it.each(printed)('masks a private key without its last lines, %s', (_, mark) => {
  const text = `before\n${LINES.slice(0, 3).map(mark).join('\n')}\nafter that, a sentence`
  expect(redact(text)).toMatch(/^before\n.{0,30}\[secret:private-key\]\nafter that, a sentence$/)
})

it('masks two keys one after the other, and nothing between them', () => {
  const text = `${LINES.join('\n')}\nand the other one:\n${LINES.slice(1).join('\n')}\n`
  expect(redact(text)).toBe('[secret:private-key]\nand the other one:\n[secret:private-key]\n')
})

it('does not mask lines before a key', () => {
  const before = 'an_identifier_of_many_characters\nits value\nshort\n'
  expect(redact(before + LINES.slice(1).join('\n'))).toBe(`${before}[secret:private-key]`)
  const apart = 'an_identifier_of_many_characters\nshort\n'
  expect(redact(apart + LINES.slice(1).join('\n'))).toBe(`${apart}[secret:private-key]`)
})

it('leaves public keys, certificates and talk about keys alone', () => {
  const texts = [
    ['-----BEGIN PUBLIC KEY-----', ...BODY, '-----END PUBLIC KEY-----'].join('\n'),
    ['-----BEGIN CERTIFICATE-----', ...BODY, '-----END CERTIFICATE-----'].join('\n'),
    'The file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.',
    'a short line\n-----END PRIVATE KEY-----',
  ]
  expect(texts.map(redact)).toEqual(texts)
})
