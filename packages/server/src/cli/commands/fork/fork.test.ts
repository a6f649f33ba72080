import { expect, it } from 'vitest'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  `fork ${SESSION} --at 5 --id second STORE`,
  `fork ${SESSION} --id second STORE`,
  `fork ${SESSION} --at 99 --id third STORE`,
  `fork ${SESSION} --id third --json STORE`,
  'fork nobody --id fourth STORE',
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
