import { expect, it } from 'vitest'
import { exampleRunner, joined } from './run-example.ts'

/** An example does what its comments say. The others are in examples.full.test.ts and guides.test.ts. */
const run = exampleRunner()

it('ai-sdk-route answers a repeated request with what it kept', async () => {
  const called = 'looking at the sky of Bergen\n'
  const first = await run('ai-sdk-route')
  expect(first.startsWith(called)).toBe(true)
  expect(joined(first, 'delta')).toContain('It rains in Bergen.')
  expect(`${called}${await run('ai-sdk-route')}`).toBe(first)
}, 240_000)
