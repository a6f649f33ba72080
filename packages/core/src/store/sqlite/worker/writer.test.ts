import { expect, it } from 'vitest'
import { sqlitePlace } from '../../../../../../test/support/sqlite-place.ts'
import { operationId, runnerId, sessionId } from '../../../base/ids.ts'
import { LIMITS } from '../../contract-suite/bench.ts'
import { Writer } from './writer.ts'

const { newPath } = sqlitePlace()

it('has nothing left to do after a commit that changed nothing', () => {
  const path = newPath()
  const writer = new Writer({
    path,
    anchorPath: `${path}.anchor`,
    busyMs: 100,
    anchorMs: 3_600_000,
  })
  const session = { id: sessionId('a'), agent: 'ada', limits: LIMITS, policy: 'steer' } as const
  writer.commit([{ verb: 'createSession', request: { ...session, operation: operationId('o') } }])
  // The first anchor is written at once, the next one an hour later.
  while (writer.maintain());
  const look = { edge: 'chat', claimant: runnerId('r'), at: 0 }
  expect(writer.commit([{ verb: 'claimReply', request: look }])).toEqual([
    { outcome: { kind: 'none' } },
  ])
  expect(writer.maintain()).toBe(false)
  writer.close()
})
