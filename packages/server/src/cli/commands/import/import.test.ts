import { readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { sample, screens, unpacked } from '../../../../../../test/terminal/screens.ts'

const { screen, write } = screens()

beforeAll(() => {
  write('session.jsonl', unpacked('version-0.1.0/session.jsonl'))
  write('torn.jsonl', unpacked('version-0.1.0/session.jsonl').subarray(0, 3_000))
  for (const name of ['claude-code', 'codex', 'pi'])
    write(`${name}.jsonl`, readFileSync(sample(`sessions/${name}.jsonl`)))
})

it.each([
  'import FOLDER/session.jsonl --store FOLDER/new.db',
  'import FOLDER/session.jsonl --store FOLDER/new.db',
  'import FOLDER/session.jsonl --json --store FOLDER/other.db',
  'import FOLDER/torn.jsonl --store FOLDER/torn.db',
  'import FOLDER/claude-code.jsonl --store FOLDER/new.db',
  'import FOLDER/none.jsonl --store FOLDER/new.db',
  'import claude-code FOLDER/claude-code.jsonl --dry-run --store FOLDER/logs.db',
  'import claude-code FOLDER/claude-code.jsonl --store FOLDER/logs.db',
  'import claude-code FOLDER/claude-code.jsonl --json --store FOLDER/logs.db',
  'import codex FOLDER/codex.jsonl --dry-run --store FOLDER/logs.db',
  'import codex FOLDER/codex.jsonl --store FOLDER/logs.db',
  'import codex FOLDER/codex.jsonl --json --store FOLDER/logs.db',
  'import pi FOLDER/pi.jsonl --dry-run --store FOLDER/logs.db',
  'import pi FOLDER/pi.jsonl --store FOLDER/logs.db',
  'import pi FOLDER/pi.jsonl --json --store FOLDER/logs.db',
  'import pi FOLDER/codex.jsonl --store FOLDER/logs.db',
  'import codex FOLDER/none --store FOLDER/logs.db',
  'import hermes FOLDER/none --store FOLDER/logs.db',
  'sessions --json --sort id --store FOLDER/logs.db',
  'show claude --from 20 --json --store FOLDER/logs.db',
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
