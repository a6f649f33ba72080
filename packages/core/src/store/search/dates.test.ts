import { expect, it } from 'vitest'
import { stretchesIn } from './dates.ts'

const SPAN = { from: Date.UTC(2022, 5, 1), to: Date.UTC(2023, 11, 1) }
const days = (text: string) =>
  stretchesIn(text, SPAN).map(({ from, to }) =>
    [from, to].map((at) => new Date(at).toISOString().slice(0, 10)).join(' '),
  )

it.each([
  ['What happened on 12 July 2023?', ['2023-07-12 2023-07-27']],
  ['What happened on July 12th, 2023?', ['2023-07-12 2023-07-27']],
  ['the plan of May 2023', ['2023-05-01 2023-06-15']],
  ['on 2023-07-12', ['2023-07-12 2023-07-27']],
  ['in 2023-07', ['2023-07-01 2023-08-15']],
  ['the 3rd of May', ['2023-05-03 2023-05-18', '2022-05-03 2022-05-18']],
  ['you may march on', []],
  ['99 July 2023', []],
])('%s', (text, stretches) => {
  expect(days(text)).toEqual(stretches)
})
