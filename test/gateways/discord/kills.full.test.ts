import { expect, it } from 'vitest'
import { drillDiscord } from './drill.ts'

it('kill -9 at random over Discord: every message is answered exactly once, in order', async () => {
  const seed = Date.now() % 1_000_000
  const verdict = await drillDiscord({ kills: 1, seed })
  expect({ seed, ...verdict }).toMatchObject({ kills: 1, findings: [] })
  expect(verdict.said).toBeGreaterThan(2)
}, 240_000)
