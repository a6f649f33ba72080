import { sep } from 'node:path'
import { expect, it } from 'vitest'
import { isInside } from './inside.ts'

it.each([
  ['/a/b', '/a/b', true],
  ['/a/b/c', '/a/b', true],
  ['/a/b/..c', '/a/b', true],
  ['/a/bc', '/a/b', false],
  ['/a', '/a/b', false],
  // The root of the disk ends with a separator.
  ['/a', '/', true],
])('%s inside %s: %s', (path, folder, inside) => {
  expect(isInside(path.replaceAll('/', sep), folder.replaceAll('/', sep))).toBe(inside)
})
