import { expect, it } from 'vitest'
import { LOOP_RULE } from '../../src/tools/send-message/loop.ts'
import { drillChannel } from './channel-drill.ts'

it('nine bots in a channel: no id changes, no message is unseen, no thanks without end [fault 40]', async () => {
  const verdict = await drillChannel({ hours: 1 / 2 })
  expect(verdict).toMatchObject({ tasks: 3, idsChanged: 0, findings: [] })
  expect(verdict.heard).toBe(verdict.meant)
  expect(verdict.longestLoop).toBeGreaterThanOrEqual(LOOP_RULE.messagesMax)
}, 90_000)

it('without the breaker the same bots thank each other until somebody ends it', async () => {
  const { longestLoop } = await drillChannel({ hours: 1 / 6, breaker: 'off' })
  expect(longestLoop).toBeGreaterThanOrEqual(4 * LOOP_RULE.messagesMax)
}, 90_000)
