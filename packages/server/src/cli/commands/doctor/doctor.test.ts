import { expect, it } from 'vitest'
import { screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  'doctor STORE',
  'doctor --json STORE',
  'doctor --store FOLDER/none.db',
  'doctor --fix STORE',
  'doctor --accept-loss STORE',
  'doctor hermes',
  'doctor hermes FOLDER/none',
  'doctor hermes a --json --markdown',
  'doctor hermes --log FOLDER/none.log',
  'doctor hermes --repair-to x --log y',
  'doctor hermes FOLDER/none --repair-to x --markdown',
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
