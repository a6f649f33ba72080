import { expect, it } from 'vitest'
import { addUp, type ImportReport, type RowCount, unaccounted } from './import-report.ts'
import { renderImport } from './import-text.ts'

const rows: RowCount = { in: 21, brought: 1, before: 2, copies: 3, silent: 4, left: 11 }

function reportOf(unit: 'row' | 'line', count: RowCount, more = {}): ImportReport {
  const profile = {
    ...{ name: 'main', store: 'state.db', agent: 'assistant', unit, remarks: [], rows: count },
    ...{ conversations: [], routes: [], memories: [], settings: [], leftBehind: [] },
    ...{ proposal: '', kinds: null },
    ...more,
  }
  return { profiles: [profile], unread: [], isDryRun: false } as unknown as ImportReport
}

it('adds up, and knows when a row has no place', () => {
  expect(addUp([rows, rows])).toEqual({
    ...{ in: 42, brought: 2, before: 4, copies: 6, silent: 8, left: 22 },
  })
  expect(unaccounted(rows)).toBe(0)
  expect(unaccounted({ ...rows, in: 22 })).toBe(1)
  expect(addUp([])).toEqual({ in: 0, brought: 0, before: 0, copies: 0, silent: 0, left: 0 })
})

it('gives the total of rows, and for lines also those without text', () => {
  expect(renderImport(reportOf('row', { ...rows, in: 17, silent: 0 }))).toContain(
    'Rows there: 17. Brought now: 1. Here before: 2. Copies: 3. Left: 11.\nEvery row is accounted for.',
  )
  const lines = renderImport(reportOf('line', rows))
  expect(lines).toContain('Copies: 3. Without words: 4. Left: 11.\nEvery line is accounted for.')
})

it('says so if rows are lost, or changed their form', () => {
  expect(renderImport(reportOf('row', { ...rows, in: 23 }))).toContain(
    '2 rows are not accounted for.',
  )
  const given = { calls: 41, results: 41, pictures: 3 }
  const kinds = { given, made: { ...given, pictures: 1 } }
  const changed = renderImport(reportOf('row', rows, { kinds }))
  expect(changed).toContain('Arrived: 41 of 41 calls, 41 of 41 results, 1 of 3 pictures.')
  expect(changed).toContain('changed their form')
  expect(changed).not.toContain('Every row')
  expect(renderImport(reportOf('row', rows, { kinds: { given, made: given } }))).toContain(
    'Every row',
  )
})

it('has a heading only for what there is', () => {
  const text = renderImport(reportOf('row', rows))
  for (const heading of [
    'Conversations:',
    'Routes:',
    'Notes',
    'Settings:',
    'Not brought:',
    'more',
  ]) {
    expect(text).not.toContain(heading)
  }
  expect(text).toContain('Profile main (state.db) is agent assistant.')
  expect(renderImport({ ...reportOf('line', rows), isDryRun: true })).toContain(
    'Logs of main (state.db) would become agent assistant.',
  )
})

it('names the profile that could not be read, and the command for details', () => {
  const unread = [{ name: 'old', store: 'old.db', problem: 'It is torn.' }]
  const text = renderImport({ profiles: [], unread, isDryRun: false } as unknown as ImportReport)
  expect(text).toContain('Profile old (old.db) was not imported, or not to its end: It is torn.')
  expect(text).toContain('`throughline doctor hermes old.db`')
})

const sound = { ...rows, in: 17, silent: 0 }
const conversation = {
  ...{ rootId: 'one', sessionId: 'one', ids: ['one'], title: null, outcome: 'new', rows: sound },
  ...{ messages: 2, compactions: 0, restored: [], differences: [] },
}

it('prints all of a report', () => {
  const long = 'x'.repeat(121)
  const more = {
    remarks: ['A column is missing.'],
    conversations: [
      conversation,
      {
        ...{ ...conversation, rootId: 'two\n', sessionId: 's2', ids: ['two', 'three', 'four'] },
        ...{ title: 'A "pier"', messages: 1, compactions: 1, restored: [7] },
        differences: ['Row 7\nis late.'],
      },
      {
        ...{ ...conversation, rootId: 'torn', sessionId: '', outcome: 'unreadable', messages: 0 },
        ...{ compactions: 2, restored: [8, 9] },
      },
      { ...conversation, outcome: 'unchanged' },
      { ...conversation, outcome: 'unchanged' },
    ],
    routes: [
      {
        key: 'k1',
        sessionId: 's1',
        route: { channel: 'telegram', address: '7' },
        outcome: 'pointed',
      },
      { key: 'k2', sessionId: 's2', route: null, outcome: 'unchanged' },
      { key: 'k3', sessionId: 's3', route: null, outcome: 'taken' },
      { key: 'k4', sessionId: 's4', route: null, outcome: 'nowhere' },
      { key: 'k5', sessionId: 's5', route: null, outcome: 'not-brought' },
      { key: 'k6\n', sessionId: '', route: null, outcome: 'torn' },
    ],
    memories: [{ id: 'n1', file: 'MEMORY.md', outcome: 'noted' }],
    settings: [
      { key: 'a.b', value: 'x'.repeat(120), becomes: 'c.d', note: 'Means the same.' },
      { key: 'e', value: long, becomes: null, note: 'Has no counterpart.' },
    ],
    proposal: 'c:\n  d: 1\n',
    leftBehind: [{ what: 'Skills', path: '/h/skills', advice: 'Copy them.' }],
  }
  expect(
    renderImport(reportOf('row', sound, more)),
  ).toBe(`Profile main (state.db) is agent assistant.
  A column is missing.

Conversations:
  one  new  17 rows: 2 messages
  s2  new  17 rows: 1 message, 1 handoff, 1 lost one put back  "A \\"pier\\""
      was two
      continued as three, four
      put back: row 7
      Row 7 is late.
  torn  unreadable  17 rows: 0 messages, 2 handoffs, 2 lost ones put back
      put back: rows 8, 9
  2 had nothing new.

Routes:
  k1 as telegram 7: s1, points to it
  k2: s2, pointed to it before
  k3: s3, points to another session here and was left
  k4: s4, points to a session that the store does not have
  k5: s5, was not imported
  k6: cannot be read and was not imported; point this route to its session by hand

Notes (shown to every conversation with agents.assistant.tools.memory.scope: agent):
  n1  noted  from MEMORY.md

Settings:
  a.b = ${'x'.repeat(120)}  ->  c.d
      Means the same.
  e = ${'x'.repeat(117)}...
      Has no counterpart.

For throughline.yaml:
  c:
    d: 1

Not brought:
  Skills in /h/skills
      Copy them.

Rows there: 17. Brought now: 1. Here before: 2. Copies: 3. Left: 11.
Every row is accounted for.
`)
})

it('prints two hundred conversations of logs, and says how many are left', () => {
  const many = (count: number) =>
    renderImport(
      reportOf('line', rows, { conversations: Array.from({ length: count }, () => conversation) }),
    )
  const line = '  one  new  17 lines: 2 messages\n'
  const end = `
Lines there: 21. Brought now: 1. Here before: 2. Copies: 3. Without words: 4. Left: 11.
Every line is accounted for.
`
  const begin = 'Logs of main (state.db) are agent assistant.\n\nConversations:\n'
  expect(many(200)).toBe(`${begin}${line.repeat(200)}${end}`)
  expect(many(202)).toBe(`${begin}${line.repeat(200)}  and 2 more\n${end}`)
})

it('prints what is not accounted for, and what changed its form', () => {
  const given = { calls: 41, results: 41, pictures: 3 }
  const kinds = { given, made: { ...given, pictures: 1 } }
  const last = (text: string) => text.split('\n').slice(-4, -1)
  expect(last(renderImport(reportOf('row', sound, { kinds })))).toEqual([
    'Rows there: 17. Brought now: 1. Here before: 2. Copies: 3. Left: 11.',
    'Arrived: 41 of 41 calls, 41 of 41 results, 1 of 3 pictures.',
    '2 calls, results or pictures changed their form. Please report this, with the lines above.',
  ])
  expect(last(renderImport(reportOf('line', { ...rows, in: 20 }, { kinds }))).at(-1)).toBe(
    '-1 lines are not accounted for. Please report this, with the lines above.',
  )
})
