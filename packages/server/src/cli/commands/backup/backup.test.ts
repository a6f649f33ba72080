import { expect, it } from 'vitest'
import { screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  'backup FOLDER/copy.db STORE ; backup FOLDER/copy.db STORE ; sessions --store FOLDER/copy.db',
  'backup FOLDER/none/copy.db STORE',
  'backup FOLDER/copy.db --store FOLDER/none.db',
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
