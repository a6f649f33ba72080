import { readFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { SESSION, sample, screens } from '../../../../../../test/terminal/screens.ts'

const { screen, write } = screens()

beforeEach(() => {
  write('short.jsonl', readFileSync(sample('sessions/claude-code.jsonl')))
  const said = Array.from({ length: 60 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `Step ${at}: look at src/step-${at}.ts. ${'The harbour opens at nine. '.repeat(20)}`,
  }))
  write('long.json', JSON.stringify({ model: 'gpt-5-mini', messages: said }))
  write('summary.txt', 'Everything up to here is done.')
  write('empty.txt', '')
})

it.each([
  'compact',
  'compact FOLDER/none.json',
  'compact FOLDER/empty.txt',
  'compact FOLDER/short.jsonl --explain -o FOLDER/out.jsonl',
  'compact FOLDER/long.json --target-tokens 3000',
  'compact FOLDER/long.json --target-tokens 3000 --explain -o FOLDER/out.json',
  'compact FOLDER/long.json --target-tokens 3000 --to pi',
  'compact FOLDER/long.json --target-tokens 3000 --summarizer file:FOLDER/summary.txt --focus harbour --explain -o FOLDER/out.json',
  'compact FOLDER/long.json --target-tokens 2000 --window 8000 --keep-tokens 500 --user-tokens 300 --ledger-tokens 100 --stats - -o FOLDER/stats.json',
  'compact FOLDER/long.json --if-needed -o FOLDER/out.json',
  'compact FOLDER/long.json --if-needed --window 8000 --trigger preflight -o FOLDER/out.json',
  'compact FOLDER/long.json --window 300',
  'compact FOLDER/long.json --preset hermes -o FOLDER/out.json',
  'compact FOLDER/long.json --stats -',
  'compact FOLDER/long.json --stats FOLDER/a -o FOLDER/a',
  'compact FOLDER/long.json --prompt-file FOLDER/empty.txt',
  'compact FOLDER/long.json --prompt-file FOLDER/summary.txt --target-tokens 3000 -o FOLDER/out.json',
  'compact FOLDER/long.json --summarizer nobody',
  'compact FOLDER/long.json --format codex',
  `compact FOLDER/long.json --session ${SESSION}`,
  'compact FOLDER/long.json --wait',
  `compact --session ${SESSION} --to pi STORE`,
  `compact --session ${SESSION} STORE`,
  `compact --session ${SESSION} --json STORE`,
  `compact --session ${SESSION} --undo STORE ; compact --session ${SESSION} --undo --json STORE`,
  `compact --session ${SESSION} --undo --preview STORE`,
  `compact --session ${SESSION} --undo --focus x STORE`,
  `compact --session ${SESSION} --wait --timeout 1s STORE`,
  'compact --session nobody STORE',
])('prints the whole screen of %s', async (line) => {
  const text = await screen(line)
  expect(text.replace(/"timingsMs": \{.*?\}/s, '')).toMatchSnapshot()
})
