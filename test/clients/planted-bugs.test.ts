import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PLANTED, SOURCES } from './planted-bugs.ts'

it.each(PLANTED)('finds the place of the planted bug of law $law: $what', ({ file, from }) => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', SOURCES, file), 'utf8')
  expect(text.split(from)).toHaveLength(2)
})
