import { readFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { sample, screens, unpacked } from '../../../../../../test/terminal/screens.ts'

const { screen, write } = screens()

beforeEach(() => {
  write('session.jsonl', unpacked('version-0.1.0/session.jsonl'))
  write('torn.jsonl', unpacked('version-0.1.0/session.jsonl').subarray(0, 3_000))
  for (const name of ['claude-code', 'codex', 'pi'])
    write(`${name}.jsonl`, readFileSync(sample(`sessions/${name}.jsonl`)))
})

it.each([
  'import FOLDER/session.jsonl --store FOLDER/new.db ; import FOLDER/session.jsonl --store FOLDER/new.db ; sessions --json --store FOLDER/new.db',
  'import FOLDER/session.jsonl --json --store FOLDER/new.db',
  'import FOLDER/torn.jsonl --store FOLDER/new.db',
  'import FOLDER/claude-code.jsonl --store FOLDER/new.db',
  'import FOLDER/none.jsonl --store FOLDER/new.db',
  'import claude-code FOLDER/claude-code.jsonl --dry-run --store FOLDER/new.db ; import claude-code FOLDER/claude-code.jsonl --store FOLDER/new.db ; import claude-code FOLDER/claude-code.jsonl --json --store FOLDER/new.db ; sessions --json --store FOLDER/new.db ; show claud --from 10 --json --store FOLDER/new.db',
  'import codex FOLDER/codex.jsonl --dry-run --store FOLDER/new.db ; import codex FOLDER/codex.jsonl --store FOLDER/new.db ; import codex FOLDER/codex.jsonl --json --store FOLDER/new.db ; sessions --json --store FOLDER/new.db ; show codex --from 10 --json --store FOLDER/new.db',
  'import pi FOLDER/pi.jsonl --dry-run --store FOLDER/new.db ; import pi FOLDER/pi.jsonl --store FOLDER/new.db ; import pi FOLDER/pi.jsonl --json --store FOLDER/new.db ; sessions --json --store FOLDER/new.db ; show pi --from 10 --json --store FOLDER/new.db',
  'import codex FOLDER/codex.jsonl --agent ada --json --store FOLDER/new.db',
  'import pi FOLDER/codex.jsonl --store FOLDER/new.db',
  'import codex FOLDER/none --store FOLDER/new.db',
  'import hermes FOLDER/none --store FOLDER/new.db',
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
