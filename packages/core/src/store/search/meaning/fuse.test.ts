import { expect, test } from 'vitest'
import { fuse } from './fuse.ts'

const fused = (first: string, second: string, depth?: number) =>
  fuse([...first], [...second], (item) => item, depth).join('')

test('an item of both rankings comes before those of one', () => {
  expect(fused('abc', 'xyc')).toBe('caxby')
})

test('equal ranks go to the first ranking', () => {
  expect(fused('ab', 'xy')).toBe('axby')
})

test('an empty ranking changes nothing', () => {
  expect(fused('abc', '')).toBe('abc')
  expect(fused('', 'xyz')).toBe('xyz')
})

test('items of the first ranking beyond the depth follow in their order, each once', () => {
  expect(fused('abcdef', 'xe', 2)).toBe('axebcdf'.replace('xeb', 'xbe'))
})

test('a longer first ranking never changes the order of the beginning', () => {
  const short = fused('abcd', 'dxe', 4)
  const long = fused('abcdefgh', 'dxe', 4)
  expect(long.startsWith(short)).toBe(true)
})
