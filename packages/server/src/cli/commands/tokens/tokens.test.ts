import { expect, it } from 'vitest'
import { screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  'tokens list STORE',
  'tokens create --label a --id t1 --expires 90d --scope read --session main-2 nobody STORE ; tokens create --label a STORE ; tokens create --id a STORE ; tokens create --id t1 STORE ; tokens rotate a --id t3 STORE ; tokens list STORE ; tokens list --json STORE ; tokens rotate a STORE ; tokens revoke a STORE ; tokens revoke --label a STORE ; tokens revoke --label a STORE ; tokens list STORE',
  'tokens create --json --id t2 --principal ada STORE ; tokens rotate t2 --id t4 --expires 1d --json STORE ; tokens rotate t4 --id t5 --json STORE ; tokens list STORE ; tokens revoke t2 STORE ; tokens rotate t2 STORE',
  'tokens rotate nobody STORE',
  'tokens revoke nobody STORE',
  'tokens revoke STORE',
  'tokens revoke t4 --label a STORE',
  'tokens create --id a.b STORE',
  'tokens list --store FOLDER/none.db',
  'tokens revoke 9b8e1c28 STORE ; tokens list STORE',
])('prints the whole screen of %s', async (line) => {
  // A token is random.
  expect((await screen(line)).replaceAll(/tl_[\w-]{43}/g, 'TOKEN')).toMatchSnapshot()
})
