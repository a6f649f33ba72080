import { expect, it } from 'vitest'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  `fork ${SESSION} --at 5 --id second STORE ; fork ${SESSION} --id second STORE ; fork second --id third STORE`,
  `fork ${SESSION} --at 99 STORE`,
  `fork ${SESSION} --id third --json STORE`,
  'fork nobody STORE',
  `fork ${SESSION} --id a.b STORE`,
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
