import { expect, it } from 'vitest'
import { drillTelegram } from './drill.ts'

it('kill -9 at random over Telegram: every update is answered exactly once, in order, with at most one message too many per kill', async () => {
  const seed = Date.now() % 1_000_000
  const verdict = await drillTelegram({ kills: 2, seed })
  expect({ seed, ...verdict }).toMatchObject({ kills: 2, findings: [] })
  expect(verdict.said).toBeGreaterThan(3)
}, 240_000)
