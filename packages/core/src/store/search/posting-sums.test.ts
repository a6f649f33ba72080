import { expect, it } from 'vitest'
import { postingOf, rootBytes } from './lists.ts'
import { PostingSums } from './posting-sums.ts'

const posting = (root: string, session: number, passages: readonly number[]) =>
  postingOf(rootBytes(root), session, passages)

it('finds no difference between the same postings, in whatever order and pieces', () => {
  const sums = new PostingSums(3)
  sums.addPosting(posting('palm', 2, [7]))
  sums.takePassage(2, ['orchid', 'palm'], 7)
  sums.takePassage(2, ['orchid'], 300)
  sums.addPosting(posting('orchid', 2, [7, 300]))
  expect(sums.different).toBe(0)
})

it.each([
  ['a missing passage', posting('orchid', 1, [7])],
  ['another passage', posting('orchid', 1, [7, 9])],
  ['one passage too many', posting('orchid', 1, [7, 8, 9])],
  ['another word', posting('orchis', 1, [7, 8])],
])('counts a session with %s', (_name, stored) => {
  const sums = new PostingSums(3)
  for (const passage of [7, 8]) sums.takePassage(1, ['orchid'], passage)
  sums.addPosting(stored)
  expect(sums.different).toBe(1)
})

it('counts both sessions if a posting is listed under the wrong one', () => {
  const sums = new PostingSums(3)
  sums.takePassage(1, ['orchid'], 7)
  sums.addPosting(posting('orchid', 2, [7]))
  expect(sums.different).toBe(2)
})
