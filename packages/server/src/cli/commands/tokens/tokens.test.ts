import { expect, it } from 'vitest'
import { screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each([
  'tokens list STORE',
  'tokens create --label a --id t1 --expires 90d --scope read --session main-2 nobody STORE',
  'tokens create --json --id t2 --principal ada STORE',
  'tokens create --label a STORE',
  'tokens create --id a STORE',
  'tokens create --id t2 STORE',
  'tokens rotate a --id t3 STORE',
  'tokens rotate t2 --id t4 --expires 1d --json STORE',
  'tokens rotate nobody STORE',
  'tokens list STORE',
  'tokens list --json STORE',
  'tokens revoke a STORE',
  'tokens revoke --label a STORE',
  'tokens revoke --label a STORE',
  'tokens revoke t2 STORE',
  'tokens revoke nobody STORE',
  'tokens revoke STORE',
  'tokens revoke t4 --label a STORE',
  'tokens create --id a.b STORE',
  'tokens list --store FOLDER/none.db',
])('prints the whole screen of %s', async (line) => {
  // A token is random.
  expect((await screen(line)).replace(/tl_[\w-]{43}\b/, 'TOKEN')).toMatchSnapshot()
})
