import { expect, it } from 'vitest'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  `purge ${SESSION} STORE`,
  `purge ${SESSION} --entries 2-3 STORE`,
  `purge ${SESSION} --entries 99 --yes STORE`,
  'purge main- --yes STORE',
  `fork ${SESSION} --at 5 --id second STORE ; purge ${SESSION} --yes STORE ; purge ${SESSION} --yes --forks keep STORE ; purge ${SESSION} --yes STORE ; purge second --yes STORE ; purge ${SESSION} --yes STORE`,
  `purge ${SESSION} --yes STORE ; purge ${SESSION} --yes STORE ; purge ${SESSION} --yes --entries 2 STORE ; sessions STORE ; show ${SESSION} STORE ; fork ${SESSION} STORE ; rename ${SESSION} x STORE ; export ${SESSION} STORE ; send ${SESSION} x STORE`,
  `fork ${SESSION} --at 5 --id second STORE ; purge ${SESSION} --yes --forks purge STORE ; sessions STORE`,
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
