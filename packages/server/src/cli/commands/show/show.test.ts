import { expect, it } from 'vitest'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  `show ${SESSION} STORE`,
  `show ${SESSION} --full --from 36 --to 38 STORE`,
  'show main- --json --from 35 STORE',
  `show ${SESSION} --all --to 3 STORE`,
  `show ${SESSION} --to 4 STORE`,
  `show ${SESSION} --context STORE`,
  `show ${SESSION} --context --json STORE`,
  `show ${SESSION} --snapshot 37 STORE`,
  `show ${SESSION} --snapshot 36 STORE`,
  `show ${SESSION} --compaction 37 STORE`,
  `show ${SESSION} --compaction 37 --full STORE`,
  `show ${SESSION} --compaction 37 --json STORE`,
  `show ${SESSION} --compaction 36 STORE`,
  `show ${SESSION} --compaction 99 STORE`,
  `show ${SESSION} --at 4 STORE`,
  `show ${SESSION} --at 5 STORE`,
  `show ${SESSION} --at 99 STORE`,
  `show ${SESSION} --at 4 --context STORE`,
  `show ${SESSION}.snapshot.37 --to 2 STORE`,
  `show ${SESSION}.snapshot.37 --at 2 STORE`,
  `show ${SESSION}.snapshot.36 STORE`,
  'show nobody STORE',
])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
