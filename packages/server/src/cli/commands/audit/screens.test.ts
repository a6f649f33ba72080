import { expect, it } from 'vitest'
import { screens } from '../../../../../../test/terminal/screens.ts'

const { screen } = screens()

it.each(['audit STORE', 'audit FOLDER/none.jsonl'])(
  'prints the whole screen of %s',
  async (line) => {
    expect(await screen(line)).toMatchSnapshot()
  },
)
