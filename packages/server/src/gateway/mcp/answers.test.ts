import { describe, expect, it } from 'vitest'
import {
  appendInput,
  appendOutput,
  compactInput,
  compactOutput,
  recallInput,
  recallOutput,
  searchInput,
  searchOutput,
  statusInput,
  statusOutput,
} from './answers.ts'

const message = { key: 'k', role: 'user', text: 'Hello.' }
const append = { session: 's', messages: [message] }
const withMessage = (over: object) => ({ ...append, messages: [{ ...message, ...over }] })

describe('tool inputs', () => {
  it.each([
    [searchInput, { text: 'pier' }, { text: 'pier', limit: 10, neighbours: 1 }],
    [recallInput, { session: 's' }, { session: 's', offset: 0 }],
    [compactInput, { session: 's' }, { session: 's', waitSeconds: 30 }],
    [statusInput, { session: 's' }, { session: 's' }],
  ])('has its defaults: %#', (schema, asked, whole) => {
    expect(schema.parse(asked)).toEqual(whole)
  })

  it.each([
    [appendInput, append],
    [appendInput, withMessage({ role: 'assistant' })],
    [appendInput, withMessage({ role: 'tool' })],
    [appendInput, withMessage({ key: 'k'.repeat(200) })],
    [appendInput, withMessage({ text: 'x'.repeat(1_000_000) })],
    [appendInput, withMessage({ at: '2026-11-16T10:00:00+02:00' })],
    [appendInput, { session: 'aZ09_-', messages: Array.from({ length: 100 }, () => message) }],
    [appendInput, { ...append, session: 's'.repeat(64) }],
    [searchInput, { text: 'x'.repeat(10_000), session: 's', limit: 50, neighbours: 5 }],
    [searchInput, { text: 'x', limit: 1, neighbours: 0 }],
    [recallInput, { session: 's', from: 1, to: 2 ** 31 - 1, offset: 2 ** 31 - 1 }],
    [compactInput, { session: 's', key: 'k'.repeat(200), focus: 'f'.repeat(2_000) }],
    [compactInput, { session: 's', waitSeconds: 0 }],
    [compactInput, { session: 's', waitSeconds: 100 }],
  ])('is taken: %#', (schema, asked) => {
    expect(schema.safeParse(asked).error).toBeUndefined()
  })

  it.each([
    [appendInput, { ...append, session: '' }],
    [appendInput, { ...append, session: 's'.repeat(65) }],
    [appendInput, { ...append, session: 'a b' }],
    [appendInput, { ...append, messages: [] }],
    [appendInput, { ...append, messages: Array.from({ length: 101 }, () => message) }],
    [appendInput, { ...append, other: 1 }],
    [appendInput, withMessage({ key: '' })],
    [appendInput, withMessage({ key: 'k'.repeat(201) })],
    [appendInput, withMessage({ role: 'system' })],
    [appendInput, withMessage({ text: '' })],
    [appendInput, withMessage({ text: 'x'.repeat(1_000_001) })],
    [appendInput, withMessage({ at: 'yesterday' })],
    [appendInput, withMessage({ other: 1 })],
    [searchInput, {}],
    [searchInput, { text: '' }],
    [searchInput, { text: 'x'.repeat(10_001) }],
    [searchInput, { text: 'x', limit: 0 }],
    [searchInput, { text: 'x', limit: 51 }],
    [searchInput, { text: 'x', neighbours: -1 }],
    [searchInput, { text: 'x', neighbours: 6 }],
    [searchInput, { text: 'x', other: 1 }],
    [recallInput, { session: 's', from: 0 }],
    [recallInput, { session: 's', to: 0 }],
    [recallInput, { session: 's', from: 2 ** 31 }],
    [recallInput, { session: 's', offset: -1 }],
    [recallInput, { session: 's', offset: 2 ** 31 }],
    [recallInput, { session: 's', other: 1 }],
    [statusInput, { session: 's', other: 1 }],
    [compactInput, { session: 's', key: '' }],
    [compactInput, { session: 's', key: 'k'.repeat(201) }],
    [compactInput, { session: 's', focus: 'f'.repeat(2_001) }],
    [compactInput, { session: 's', waitSeconds: -1 }],
    [compactInput, { session: 's', waitSeconds: 101 }],
    [compactInput, { session: 's', other: 1 }],
  ])('is refused: %#', (schema, asked) => {
    expect(schema.safeParse(asked).success).toBe(false)
  })
})

describe('tool outputs', () => {
  const entry = {
    ...{ entry: 1, role: 'user', at: '2026-11-16', text: 'Hello.' },
    ...{ clippedCharacters: 0, isCompacted: false },
  }
  const status = {
    ...{ session: 's', agent: 'main', title: null, state: 'open', entries: 1, waiting: 0 },
    ...{ contextTokens: 1, windowTokens: 2, usedShare: 0.5, compactionDueAtTokens: 2 },
    ...{ isCompacting: false, compaction: null, isServed: true },
  }
  const compacted = {
    ...{ session: 's', outcome: 'compacted', isServed: true, covers: 1, note: 'Done.' },
    ...{ tokensBefore: 2, tokensAfter: 1 },
  }
  const outcomes = ['appended', 'duplicate', 'conflict', 'busy', 'gone', 'refused']

  const answers = [
    ...outcomes.map((outcome) => {
      const one = { key: 'k', outcome, entry: 1, mail: null, note: null }
      return [appendOutput, { session: 's', messages: [one] }] as const
    }),
    [
      searchOutput,
      {
        found: [{ session: 's', excerpt: 'Hello.', match: entry, before: [entry], after: [] }],
        total: 1,
      },
    ],
    [recallOutput, { session: 's', entries: [entry], newest: 1, next: null }],
    [recallOutput, { session: 's', entries: [], newest: 1, next: { from: 1, offset: 0 } }],
    [statusOutput, status],
    [statusOutput, { ...status, title: 'Pier', compaction: { entry: 3, covers: 2, summary: '' } }],
    ...['compacted', 'nothing-to-compact', 'failed', 'asked'].map(
      (outcome) => [compactOutput, { ...compacted, outcome }] as const,
    ),
    [compactOutput, { ...compacted, covers: null, tokensBefore: null, tokensAfter: null }],
  ] as const

  it.each(answers)('keeps every field: %#', (schema, answer) => {
    expect(schema.parse(answer)).toEqual(answer)
  })

  it.each(answers)('requires every field: %#', (schema, answer) => {
    for (const key of Object.keys(answer)) {
      const lacking = Object.fromEntries(Object.entries(answer).filter(([name]) => name !== key))
      expect([key, schema.safeParse(lacking).success]).toEqual([key, false])
    }
  })
})
