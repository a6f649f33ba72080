import { expect, it } from 'vitest'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  `rename ${SESSION} Granite STORE ; sessions --json STORE ; rename ${SESSION}  STORE ; sessions STORE`,
  `rename ${SESSION} ${'x'.repeat(300)} STORE`,
  'rename nobody Granite STORE',
  'rename main- Granite STORE',
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
