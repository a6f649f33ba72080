import { expect, it } from 'vitest'
import { screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each(['completion csh'])('prints the whole screen of %s', async (line) => {
  expect(await screen(line)).toMatchSnapshot()
})
