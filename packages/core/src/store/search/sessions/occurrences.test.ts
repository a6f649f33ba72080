import { expect, it } from 'vitest'
import { Occurrences, SESSION_STRIDE } from './occurrences.ts'

const place = (session: number, passage: number) => session * SESSION_STRIDE + passage

it.each([
  [
    'follow',
    [place(1, 1), place(1, 2), place(2, 1)],
    [
      [1, [1, 2]],
      [2, [1]],
    ],
  ],
  [
    'precede',
    [place(1, 1), place(2, 1)],
    [
      [2, [1]],
      [1, [1]],
    ],
  ],
  [
    'lie between',
    [place(1, 1), place(1, 2), place(1, 3)],
    [
      [1, [1, 3]],
      [1, [2]],
    ],
  ],
  [
    'are the same as',
    [place(1, 1), place(1, 3)],
    [
      [1, [1, 3]],
      [1, [1]],
    ],
  ],
] as const)(
  'gives places in ascending order, each once, where later ones %s the first',
  (...row) => {
    const [, wanted, lists] = row
    const found = new Occurrences(8)
    for (const [session, passages] of lists) found.add(session, passages)
    expect([...found.end()]).toEqual(wanted)
  },
)
