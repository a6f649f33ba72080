import { beforeEach, expect, it } from 'vitest'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

const { screen, write } = screens()

beforeEach(() => {
  write('a.yaml', 'agents: {main: {}}\n')
})

it.each([
  `send ${SESSION} Hello. --key k STORE ; send ${SESSION} Hello. --key k STORE ; send ${SESSION} Hello. --key k --json STORE ; send ${SESSION} Other. --key k STORE`,
  'send nobody Hello. STORE',
  `send ${SESSION}.snapshot.37 Hello. STORE`,
  'send fresh Hello. --agent nobody --config FOLDER/a.yaml STORE',
  'send fresh Hello. --json --agent main --config FOLDER/a.yaml STORE ; send fresh Hello. --agent main --config FOLDER/a.yaml STORE',
  `send ${SESSION} Hello. --key w --wait --timeout 1s STORE`,
  `send ${SESSION} Hello. --key  STORE`,
  `send ${SESSION}  STORE`,
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
