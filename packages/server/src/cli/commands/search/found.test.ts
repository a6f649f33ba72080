import { expect, it } from 'vitest'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  'search code word STORE',
  'search harbour --json --limit 2 STORE',
  `search harbour --session ${SESSION} --neighbours 1 --limit 2 STORE`,
  'search harbour --neighbours 1 STORE',
  'search xylophone STORE',
  'search xylophone --exact STORE',
  'search harbour --skip 900 STORE',
  'search granite --speaker person STORE',
  'search granite --speaker agent --since 2026-11-17 STORE',
  'search granite --until 2026-11-17 --limit 1 STORE',
  'search granite --tool read STORE',
  'search granite --path a.ts STORE',
  'search granite --agent main --limit 1 --json STORE',
  'search granite --scope nobody STORE',
  'search granite --session nobody STORE',
  'search granite --since tomorrow STORE',
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
