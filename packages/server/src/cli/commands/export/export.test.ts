import { expect, it } from 'vitest'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

const { read, screen } = screens()

it.each([
  `export ${SESSION} --to markdown STORE`,
  `export ${SESSION} --to html -o FOLDER/a.html STORE`,
  `export ${SESSION} --to html -o FOLDER/a.html STORE`,
  `export ${SESSION} --to codex -o FOLDER/codex.jsonl STORE`,
  `export ${SESSION} --to claude-code -o FOLDER/claude.jsonl STORE`,
  `export ${SESSION} --to openai-chat STORE`,
  `export ${SESSION}.snapshot.37 --to codex STORE`,
  `export ${SESSION}.snapshot.36 STORE`,
  `export ${SESSION} --to hermes STORE`,
  `export ${SESSION} --to hermes -o FOLDER/state.db STORE`,
  `export ${SESSION} --to hermes -o FOLDER/json.db --json STORE`,
  `export ${SESSION} --to hermes -o FOLDER/state.db STORE`,
  `export ${SESSION} -o FOLDER/session.jsonl STORE`,
  `export ${SESSION} -o FOLDER/none/session.jsonl STORE`,
  'export nobody STORE',
])('prints the whole screen of %s', async (line) => {
  const text = (await screen(line)).replaceAll(process.cwd(), 'HERE')
  expect(text.replaceAll(process.cwd().replaceAll(/\W/g, '-'), 'HERE')).toMatchSnapshot()
})

it.each(['codex.jsonl', 'claude.jsonl'])('writes %s', (name) => {
  expect(read(name).replaceAll(process.cwd(), 'HERE')).toMatchSnapshot()
})
