import { expect, it } from 'vitest'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  'sessions STORE',
  'sessions --json STORE',
  'sessions --agent other STORE',
  'sessions --agent main --sort created --limit 1 STORE',
  `sessions --after ${SESSION} STORE`,
  'sessions --sort id --all STORE',
  'sessions --store FOLDER/none.db',
  'sessions --sort size STORE',
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
