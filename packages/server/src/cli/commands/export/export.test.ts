import { join } from 'node:path'
import { expect, it } from 'vitest'
import { plainRows } from '../../../../../../test/doctor/homes/damaged-sample.ts'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

const { folder, read, screen } = screens()

it.each([
  `export ${SESSION} --to markdown STORE`,
  `export ${SESSION} --to html -o FOLDER/a.html STORE ; export ${SESSION} --to html -o FOLDER/a.html STORE ; export ${SESSION} --to html --force -o FOLDER/a.html STORE`,
  `export ${SESSION} --to openai-chat STORE`,
  `export ${SESSION}.snapshot.37 --to codex STORE`,
  `export ${SESSION}.snapshot.36 STORE`,
  `export ${SESSION} --to hermes STORE`,
  `export ${SESSION} --to hermes -o FOLDER/json.db --json STORE`,
  `export ${SESSION} --to hermes -o FOLDER/state.db STORE`,
  `export ${SESSION} -o FOLDER/session.jsonl STORE`,
  `export ${SESSION} -o FOLDER/none/session.jsonl STORE`,
  'export nobody STORE',
])('prints the whole screen of %s', async (line) => {
  const text = (await screen(line)).replaceAll(process.cwd(), 'HERE')
  expect(text.replaceAll(process.cwd().replaceAll(/\W/g, '-'), 'HERE')).toMatchSnapshot()
})

it.each([
  ['codex', 'codex.jsonl'],
  ['claude-code', 'claude.jsonl'],
])('writes a log for %s', async (form, name) => {
  const told = await screen(`export ${SESSION} --to ${form} -o FOLDER/${name} STORE`)
  const text = `${told}\n${read(name)}`.replaceAll(process.cwd(), 'HERE')
  expect(text.replaceAll(process.cwd().replaceAll(/\W/g, '-'), 'HERE')).toMatchSnapshot()
})

it('writes a store for Hermes', async () => {
  const state = 'FOLDER/state.db'
  const told = await screen(
    `export ${SESSION} --to hermes -o ${state} STORE ; export ${SESSION} --to hermes -o ${state} STORE`,
  )
  const rows = [...plainRows(join(folder, 'state.db'))].map(([name, row]) => `${name} ${row}`)
  expect([told, ...rows].join('\n')).toMatchSnapshot()
})
