import { expect, it } from 'vitest'
import { drillChannel, THANKS_PER_TASK } from './channel-drill.ts'

it('three processes in one channel: no id changes, no message is lost, no thanks without end [S29, D10, D11, S22, fault 40]', async () => {
  const verdict = await drillChannel({ hours: 1 / 6, bots: 3 })
  expect(verdict).toMatchObject({ tasks: 1, idsChanged: 0, findings: [] })
  expect(verdict.longestLoop).toBe(THANKS_PER_TASK)
  expect(verdict.received).toBe(verdict.addressed)
}, 300_000)
