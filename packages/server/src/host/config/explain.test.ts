import { expect, it } from 'vitest'
import { z } from 'zod'
import { explainIssues } from './explain.ts'
import { nodeOf } from './read/tree.ts'

const FILE = { kind: 'file', file: 'a.yaml', line: 1, column: 1 } as const

/** What is said of a value that this schema refuses. */
function said(schema: z.ZodType, value: unknown): readonly string[] {
  const { error } = schema.safeParse(value)
  const problems = explainIssues(error?.issues ?? [], nodeOf(value, FILE))
  expect(problems.map(({ origin }) => origin)).toEqual(problems.map(() => FILE))
  return problems.map(({ text }) => text)
}

/** Of a key that is not in the configuration at all. */
const NONE_BELOW =
  'is not known. This key takes no keys below it. If an earlier version had it, remove it: ' +
  'CHANGELOG.md says what replaces it.'

const at = (schema: z.ZodType) => z.strictObject({ key: schema })
const mode = z.enum(['steer', 'queue'])
const kinds = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), path: z.string() }),
  z.strictObject({ kind: z.literal('none') }),
])
const short = z.union([z.boolean(), z.strictObject({ on: z.boolean() })], {
  error: 'should be true, false or a map',
})

it.each<[string, z.ZodType, unknown, readonly string[]]>([
  ['a text', z.string(), 5, ['`key` should be a text. It is 5.']],
  ['a number', z.number(), 'five', ['`key` should be a number. It is "five".']],
  ['a whole number', z.int(), 1.5, ['`key` should be a whole number. It is 1.5.']],
  ['true or false', z.boolean(), [1], ['`key` should be true or false. It is a list.']],
  ['a list', z.array(z.string()), { a: 1 }, ['`key` should be a list. It is a map.']],
  ['keys', z.strictObject({}), 'x', ['`key` should be a map of keys and values. It is "x".']],
  [
    'names',
    z.record(z.string(), z.string()),
    true,
    ['`key` should be a map of names and values. It is true.'],
  ],
  [
    'words of its own',
    z.string({ error: 'should say who' }),
    5,
    ['`key` should say who. It is 5.'],
  ],
  ['a date', z.date(), 5, ['`key` should be date. It is 5.']],
  ['one word', z.literal('on'), 'off', ['`key` should be on. It is "off".']],
  ['one of two words', mode, 'wait', ['`key` should be one of steer, queue. It is "wait".']],
  [
    'a word nearly right',
    mode,
    'ster',
    ['`key` should be one of steer, queue. It is "ster". Did you mean `steer`?'],
  ],
  [
    'one of two words, not a list',
    mode,
    ['steer'],
    ['`key` should be one of steer, queue. It is a list.'],
  ],
  ['more', z.number().min(3), 2, ['`key` should be at least 3. It is 2.']],
  ['less', z.number().max(3), 4, ['`key` should be at most 3. It is 4.']],
  [
    'a longer text',
    z.string().min(3),
    'ab',
    ['`key` should have at least 3 characters. It is "ab".'],
  ],
  [
    'a shorter text',
    z.string().max(1),
    'ab',
    ['`key` should have at most 1 characters. It is "ab".'],
  ],
  ['more items', z.array(z.string()).min(1), [], ['`key` should hold at least 1. It is a list.']],
  [
    'fewer items',
    z.array(z.string()).max(1),
    ['a', 'b'],
    ['`key` should hold at most 1. It is a list.'],
  ],
  [
    'a bound in its own words',
    z.number().min(3, 'is too little'),
    2,
    ['`key` is too little. It is 2.'],
  ],
  ['an address', z.url(), 'x', ['`key` should be an http:// or https:// address. It is "x".']],
  [
    'a form',
    z.string().regex(/^a/, 'should begin with a'),
    'x',
    ['`key` should begin with a. It is "x".'],
  ],
  ['a condition', z.string().refine(() => false, 'is taken'), 'x', ['`key` is taken. It is "x".']],
  ['an item', z.array(z.string()), ['a', 5], ['`key[1]` should be a text. It is 5.']],
  [
    'a known kind',
    kinds,
    { kind: 'url' },
    ['`key.kind` should be one of file, none. It is "url".'],
  ],
  ['a kind', kinds, { path: 'x' }, ['`key.kind` should be one of file, none.']],
  ['what a kind needs', kinds, { kind: 'file' }, ['`key.path` is missing.']],
  ['one of two forms', short, 'x', ['`key` should be true, false or a map. It is "x".']],
  ['the form that is meant', short, { on: 5 }, ['`key.on` should be true or false. It is 5.']],
  ['the form that is meant, with a key', short, { on: true, of: 1 }, [`\`key.of\` ${NONE_BELOW}`]],
  ['no secret', z.string(), { credential: 5 }, ['`key` should be a text. It is a map.']],
  [
    'a name',
    z.record(z.string().max(2, 'is too long'), z.int()),
    { abc: 1 },
    ['`abc` is too long.'],
  ],
  [
    'a short value',
    z.number(),
    'x'.repeat(40),
    [`\`key\` should be a number. It is "${'x'.repeat(40)}".`],
  ],
  [
    'a clipped value',
    z.number(),
    `${'x '.repeat(20)}y`,
    [`\`key\` should be a number. It is "${'x '.repeat(20)}…".`],
  ],
])('says what is wrong where a configuration should have %s', (_, schema, value, texts) => {
  expect(said(at(schema), { key: value })).toEqual(texts)
})

it.each(['credential', 'password'])('never repeats what stands in place of a %s', (name) => {
  const schema = z.strictObject({ [name]: z.strictObject({ kind: z.string() }) })
  expect(said(schema, { [name]: 'tl_secret' })).toEqual([
    expect.stringMatching(`^\`${name}\` says where a key is kept\\. \\S`),
  ])
  expect(said(schema, { [name]: { kind: 5 } })).toEqual([`\`${name}.kind\` should be a text.`])
})

it('never repeats a header', () => {
  const schema = z.strictObject({ headers: z.record(z.string(), z.string()) })
  expect(said(schema, { headers: { x: 5 } })).toEqual(['`headers.x` should be a text.'])
})

it('says what is missing', () => {
  expect(said(at(z.string()), {})).toEqual(['`key` is missing.'])
})

it('names twenty unknown keys at most', () => {
  const many = Object.fromEntries(Array.from({ length: 22 }, (_, index) => [`zz${index}`, 1]))
  const texts = said(z.strictObject({}), many)
  expect(texts.map((text) => text.split(' known. ')[0])).toEqual(
    Array.from({ length: 20 }, (_, index) => `\`zz${index}\` is not`),
  )
})

it('says nothing of what keys mean together while one beside them is not known', () => {
  const model = z
    .strictObject({ provider: z.string().optional() })
    .refine(({ provider }) => provider !== undefined, { path: ['provider'], error: 'is needed' })
  const schema = z.strictObject({ one: model, two: model })
  const issues = (group: string, name: string) => [
    { code: 'custom' as const, path: [group, 'provider'], message: 'is needed', input: undefined },
    { code: 'unrecognized_keys' as const, path: [name], keys: ['provder'], message: '', input: {} },
  ]
  const tree = nodeOf({ one: {}, two: {} }, FILE)
  const texts = (group: string, name: string) =>
    explainIssues(issues(group, name), tree).map(({ text }) => text)
  expect(texts('one', 'one')).toEqual([`\`one.provder\` ${NONE_BELOW}`])
  expect(texts('one', 'two')).toEqual([
    '`one.provider` is needed.',
    `\`two.provder\` ${NONE_BELOW}`,
  ])
  expect(said(schema, { one: {}, two: { provider: 'x' } })).toEqual(['`one.provider` is needed.'])
})
