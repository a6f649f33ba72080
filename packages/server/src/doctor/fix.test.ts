import { expect, it } from 'vitest'
import { DamagedRowError, StoreDamagedError } from '#core/store/errors'
import { type OwnFinding, unreadable } from './finding.ts'
import { fixFindings } from './fix.ts'

const problem = 'holds no JSON'

it.each([
  new DamagedRowError({ row: 'operation o1', column: 'result', problem }),
  new StoreDamagedError({ path: 'store.db', problem }),
  new Error(problem),
])('a store in which something cannot be read is not written to: %s', async (error) => {
  const silent: OwnFinding = {
    ...{ kind: 'silent-runner', severity: 'warning', what: '', since: null, advice: '' },
    ...{ sessionIds: [], fix: { kind: 'dismiss-runner', runner: 'r1', beat: 1 } },
  }
  const refuse = () => Promise.reject(new Error('it was opened'))
  const hands = { openStore: refuse, finishErasure: refuse }
  expect(await fixFindings([unreadable(error), silent], hands)).toEqual([
    'The store is damaged, so nothing in it was changed.',
  ])
})
