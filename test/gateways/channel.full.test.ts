import { expect, it } from 'vitest'
import { CONTROL_LOOP, drillChannel, THANKS_PER_TASK } from './channel-drill.ts'

it('nine processes in one channel for an hour, each over the threshold at least twice: no id changes, no message is lost, no thanks without end [D9-D11, S22, fault 40]', async () => {
  const verdict = await drillChannel({ hours: 1 })
  expect(verdict).toMatchObject({ tasks: 6, idsChanged: 0, findings: [] })
  expect(verdict).toMatchObject({ longestLoop: THANKS_PER_TASK, thanks: 6 * THANKS_PER_TASK })
  expect(verdict.received).toBe(verdict.addressed)
}, 600_000)

it('without the breaker the same bots thank each other until the drill ends', async () => {
  const { longestLoop } = await drillChannel({ hours: 1 / 6, breaker: 'off' })
  expect(longestLoop).toBeGreaterThanOrEqual(CONTROL_LOOP)
}, 300_000)
