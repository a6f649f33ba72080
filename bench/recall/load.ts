import { randomUUID } from 'node:crypto'
import { thisHost } from '../../packages/core/src/base/host.ts'
import {
  operationId,
  runnerId,
  type SessionId,
  sessionId,
} from '../../packages/core/src/base/ids.ts'
import { limitsFor } from '../../packages/core/src/session/limits.ts'
import type { AdoptedEntry } from '../../packages/core/src/store/adoption.ts'
import { ADOPT_MAX } from '../../packages/core/src/store/bounds.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { newSession } from '../../packages/core/src/store/rules/create-session.ts'

/** Makes a session of a conversation that took place elsewhere; every entry keeps its time. */
export async function loadSession(
  store: Store,
  name: string,
  entries: readonly AdoptedEntry[],
  agent = 'eval',
): Promise<SessionId> {
  const id = sessionId(name)
  const limits = limitsFor({ windowTokens: 1_000_000, fixedTokens: 0 })
  const stamp = { at: Date.now(), seed: '' }
  const session = newSession({ id, agent, limits, policy: 'steer' }, 'imported', stamp)
  const nothing = { entries: [], mail: [], replies: [], blobs: [] }
  await store.adoptSession({ session, ...nothing, operation: operationId(randomUUID()) })
  const runner = runnerId(randomUUID())
  await store.registerRunner({ ...thisHost(), id: runner, startedAt: stamp.at, leaseMs: 600_000 })
  const born = await store.findSession(id)
  if (born === undefined) throw new Error(`Session ${id} was not made.`)
  const acquired = await store.acquire({ sessionId: id, runner, holder: 'eval', fence: born.fence })
  if (acquired.kind !== 'acquired') throw new Error(`Session ${id} is held.`)
  let tail = { number: born.tail, hash: born.tailHash }
  for (let from = 0; from < entries.length; from += ADOPT_MAX) {
    const outcome = await store.adoptEntries({
      lease: acquired.lease,
      tail,
      operation: operationId(randomUUID()),
      entries: entries.slice(from, from + ADOPT_MAX),
    })
    if (outcome.kind !== 'appended') throw new Error(`Entries were not taken: ${outcome.kind}.`)
    tail = outcome.tail
  }
  await store.retireRunner({ runner })
  return id
}
