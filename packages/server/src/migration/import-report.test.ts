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
