import { expect, it } from 'vitest'
import { joinedLines } from './chat.ts'

it.each([
  [
    ['one', 'two'],
    ['one', 'two'],
  ],
  [
    ['one\\', 'two\\', 'three', 'four'],
    ['one\ntwo\nthree', 'four'],
  ],
  [['\\', 'two'], ['\ntwo']],
  [
    ['one', 'cut off\\'],
    ['one', 'cut off\n'],
  ],
  [[], []],
])('joins lines that end in a backslash: %j', async (lines, joined) => {
  async function* typed() {
    yield* lines
  }
  const read: string[] = []
  for await (const line of joinedLines(typed())) read.push(line)
  expect(read).toEqual(joined)
})
