import { expect, it } from 'vitest'
import { CONTROL_LOOP, drillChannel, THANKS_PER_TASK } from './channel-drill.ts'

it.concurrent('nine bots in a channel: no id changes, no message is unseen, no thanks without end [fault 40]', async () => {
  const verdict = await drillChannel({ hours: 1 / 2 })
  expect(verdict).toMatchObject({ tasks: 3, idsChanged: 0, findings: [] })
  expect(verdict).toMatchObject({ longestLoop: THANKS_PER_TASK, thanks: 3 * THANKS_PER_TASK })
  expect(verdict.heard).toBe(verdict.meant)
}, 180_000)

it.concurrent('without the breaker the same bots thank each other until somebody ends it', async () => {
  const { longestLoop } = await drillChannel({ hours: 1 / 6, breaker: 'off' })
  expect(longestLoop).toBeGreaterThanOrEqual(CONTROL_LOOP)
}, 180_000)
