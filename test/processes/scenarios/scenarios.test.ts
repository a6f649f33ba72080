import { describe, expect, it } from 'vitest'
import { sessionId } from '../../../packages/core/src/base/ids.ts'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import type { AuditRow } from '../../../packages/core/src/store/tables/rows.ts'
import { PACES } from '../agent-options.ts'
import { type Host, until } from '../host.ts'
import { readAudit } from '../kept.ts'
import { readAcks, SendingClient } from '../sending-client.ts'
import {
  compactionsIn,
  crossTogether,
  isCommit,
  makeHost,
  settle,
  startAgent,
  TEST_MS_MAX,
} from './scenario.ts'

/** The scenarios of the report on drifting session ids, each agent a process of its own. */

const driver = (host: Host, store: Store, sessions = host.sessions) =>
  new SendingClient({ store, folder: host.folder, name: 'driver', sessions })

async function askForCompaction(store: Store, id: string): Promise<void> {
  const to = { sessionId: sessionId(id) }
  const control = { lane: 'control', control: 'compact', body: {}, tokens: 0 } as const
  await store.admit({ to, source: 'person', key: `compact-${id}`, ...control })
}

const isRunning = (store: Store, id: string) => async () =>
  (await store.findSession(sessionId(id)))?.operation !== null

/** Mail admitted between the start of a compaction and its commit. */
function admittedDuring(rows: readonly AuditRow[], id: string): readonly AuditRow[] {
  const lines = compactionsIn(rows, id)
  return rows.filter((row) => {
    const [next] = lines.filter(({ cursor }) => cursor > row.cursor)
    const last = lines.findLast(({ cursor }) => cursor < row.cursor)
    return (
      row.sessionId === id &&
      row.kind === 'message admitted' &&
      last?.kind === 'compaction started' &&
      next?.kind === 'compaction committed'
    )
  })
}

describe.concurrent('one session', { timeout: TEST_MS_MAX }, () => {
  it('compaction preserves the session id, and what is derived from it leads nowhere [S17, S21, I5, fault 39]', async ({
    onTestFinished,
  }) => {
    const id = 'main-0'
    const host = await makeHost([id], onTestFinished)
    await startAgent(host, 'p0')
    await host.using(async (store) => {
      const before = await store.findSession(sessionId(id))
      await driver(host, store).run(2, 50)
      const { compactions } = await settle(host)
      expect(compactions).toBeGreaterThan(0)
      const after = await store.findSession(sessionId(id))
      expect([after?.id, after?.createdAt]).toEqual([before?.id, before?.createdAt])
      const route = { agent: 'main', channel: 'chat', address: id }
      expect(await store.findRoute(route)).toEqual({ ...route, sessionId: id, version: 1 })
      for (const { operation } of compactionsIn(await readAudit(store), id)) {
        const row = operation === null ? undefined : await store.findOperation(operation)
        expect(row?.sessionId).toBe(id)
      }
      const name = `${id}.snapshot.1`
      expect(() => sessionId(name)).toThrow('session id')
      const message = { source: 'x', key: 'x', lane: 'user', body: 'hello', tokens: 1 } as const
      const derived = { ...route, address: name }
      expect(await store.admit({ to: { route: derived }, ...message })).toEqual({ kind: 'unknown' })
    })
  })

  it('post-compaction delivery: what arrives during a compaction is taken at once and in the next context [D6, D7, S19, I10]', async ({
    onTestFinished,
  }) => {
    const id = 'main-0'
    const host = await makeHost([id], onTestFinished)
    host.holdHandoffs()
    // A digest at the hard limit would end the compaction that is held.
    const paces = { ...PACES, handoffFailures: 0 }
    await startAgent(host, 'p0', { paces, atHardLimit: 'wait' })
    await host.using(async (store) => {
      const client = driver(host, store)
      await until('a compaction runs', async () => {
        await client.send()
        return isRunning(store, id)()
      })
      // Admission never waits for a compaction: all are acknowledged before it can end.
      await client.run(0, 40)
      host.letHandoffsEnd()
      await settle(host)
      expect(admittedDuring(await readAudit(store), id).length).toBeGreaterThan(5)
    })
  })
})

describe.concurrent('several sessions', { timeout: TEST_MS_MAX }, () => {
  it('no cross-session aliasing: compactions of one process mention their own session only [D4, S18, I6, I21]', async ({
    onTestFinished,
  }) => {
    const host = await makeHost(['main-0', 'main-1', 'main-2'], onTestFinished)
    await startAgent(host, 'p0')
    await host.using(async (store) => {
      await driver(host, store).run(2, 120)
      const { compactions } = await settle(host)
      expect(compactions).toBeGreaterThan(2)
    })
  })

  it('five concurrent compactions keep to their sessions [D5, S18, I6]', async ({
    onTestFinished,
  }) => {
    const sessions = Array.from({ length: 5 }, (_, index) => `main-${index}`)
    const host = await makeHost(sessions, onTestFinished)
    // Including those that start by themselves while a session is idle.
    host.holdHandoffs()
    // A digest at the hard limit would end the compaction that is held.
    const paces = { ...PACES, handoffFailures: 0 }
    await startAgent(host, 'p0', { paces, atHardLimit: 'wait' })
    await host.using(async (store) => {
      for (const id of sessions) {
        const client = new SendingClient({
          store,
          folder: host.folder,
          name: id.slice(5),
          sessions: [id],
        })
        await client.run(0, 9)
      }
      await until('all is answered', async () => {
        const rows = await store.listSessions({ limit: 10 })
        return rows.every(({ pending, turnState }) => pending.user === 0 && turnState === 'idle')
      })
      await Promise.all(sessions.map((id) => askForCompaction(store, id)))
      await until('all five run', async () => {
        const running = await Promise.all(sessions.map((id) => isRunning(store, id)()))
        return running.every(Boolean)
      })
      host.letHandoffsEnd()
      await settle(host)
      const rows = await readAudit(store)
      const first = rows.find(isCommit)?.cursor ?? 0
      const begun = rows.filter(
        ({ kind, cursor }) => kind === 'compaction started' && cursor < first,
      )
      expect(new Set(begun.map(({ sessionId: id }) => id)).size).toBe(5)
    })
  })

  it('two agents: A is compacted while B is sending, and A has what B sent [S19, I10]', async ({
    onTestFinished,
  }) => {
    const host = await makeHost(['a-0', 'b-0'], onTestFinished)
    const paces = { ...PACES, handoffFailures: 0 }
    await startAgent(host, 'pa', { agents: ['a'], paces, atHardLimit: 'wait' })
    await host.using(async (store) => {
      await driver(host, store, ['a-0']).run(2, 10)
      const sends = { sessions: ['a-0'], paceMs: 10 }
      await startAgent(host, 'pb', { agents: ['b'], paces, sends })
      await until('B is sending', () => readAcks(host.folder, 'pb').length > 0)
      // It may already have been compacted automatically.
      const { commits } = await store.readStore()
      host.holdHandoffs()
      await askForCompaction(store, 'a-0')
      await until('A is being compacted', isRunning(store, 'a-0'))
      const sent = readAcks(host.folder, 'pb').length
      await until('B has sent more', () => readAcks(host.folder, 'pb').length > sent + 1)
      host.letHandoffsEnd()
      await until('A was compacted', async () =>
        (await readAudit(store)).some((row) => isCommit(row) && row.cursor > commits),
      )
      host.askForQuiet()
      await settle(host)
      expect(admittedDuring(await readAudit(store), 'a-0').length).toBeGreaterThan(0)
    })
  })
})

describe('many agents on one host', () => {
  it(
    '13 agents, each a process, cross the threshold within 60 seconds [D9, D10, S22, fault 25]',
    { timeout: TEST_MS_MAX },
    ({ onTestFinished }) => crossTogether(13, onTestFinished),
  )
})
