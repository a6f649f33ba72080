import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ImportReport } from '../../../migration/import-report.ts'
import { bringInto } from './target.ts'

let printed = ''
beforeEach(() => {
  printed = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest) => {
    printed += String(text)
    const done = rest.at(-1)
    if (typeof done === 'function') done(null)
    return true
  })
})
afterEach(() => void vi.restoreAllMocks())

const whole = { in: 4, brought: 1, before: 1, copies: 1, silent: 1, left: 0 }
const counts = { calls: 2, results: 2, pictures: 1 }
const profile = (more: object = {}) => ({
  ...{ name: 'p', store: 's', unit: 'row', agent: 'a', remarks: [], routes: [], settings: [] },
  ...{ proposal: '', memories: [], leftBehind: [], kinds: null, conversations: [] },
  ...{ rows: whole, ...more },
})
const conversations = (...outcomes: readonly string[]) => ({
  conversations: outcomes.map((outcome) => ({ outcome })),
})

it.each<[string, object, number]>([
  ['everything', { profiles: [profile(), profile()] }, 0],
  ['nothing to bring', { profiles: [] }, 0],
  ['conversations', { profiles: [profile(conversations('new', 'unchanged', 'refused'))] }, 0],
  ['equal kinds', { profiles: [profile({ kinds: { given: counts, made: counts } })] }, 0],
  [
    'a row left behind',
    { profiles: [profile(), profile({ rows: { ...whole, in: 5, left: 1 } })] },
    1,
  ],
  ['a row that is nowhere', { profiles: [profile({ rows: { ...whole, in: 5 } })] }, 1],
  ['a row too many', { profiles: [profile({ rows: { ...whole, in: 3 } })] }, 1],
  [
    'a call that became something else',
    { profiles: [profile({ kinds: { given: counts, made: { ...counts, calls: 1 } } })] },
    1,
  ],
  ['an unreadable conversation', { profiles: [profile(conversations('new', 'unreadable'))] }, 1],
  ['an unread profile', { profiles: [profile()], unread: [{ name: 'q' }] }, 1],
])('an import of %s ends with the right code', async (_, more, code) => {
  const report = { format: 'throughline-import', version: 1, path: 'x', isDryRun: true, unread: [] }
  const given = { ...report, ...more } as unknown as ImportReport
  const seen: unknown[] = []
  const flags = { dryRun: true, json: true, store: join(tmpdir(), 'throughline-none.db') } as const
  const ended = await bringInto(flags, async ({ target }) => {
    seen.push(target)
    return given
  })
  expect([ended, seen]).toEqual([code, [{ isDryRun: true, reads: null }]])
  expect(JSON.parse(printed)).toEqual(given)
})
