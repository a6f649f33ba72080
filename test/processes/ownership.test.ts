import { describe, expect, it } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { CALM_LEASE, leaseFor, PACES } from './agent-options.ts'
import { findingsOf, judge } from './checker.ts'
import { Host, until } from './host.ts'
import { SendingClient } from './sending-client.ts'

const id = 'main-0'
/** Of several waits, each of which may take a minute on a busy machine. */
const TEST_MS_MAX = 240_000

async function makeHost(onTestFinished: (end: () => Promise<void>) => void): Promise<Host> {
  const host = await Host.make([id])
  onTestFinished(() => host.remove())
  return host
}

const agent = (name: string) => ({ name, agents: ['main'], lease: leaseFor(4), paces: PACES })

describe.concurrent('an owner that is away for longer than its lease', {
  timeout: TEST_MS_MAX,
}, () => {
  it.for([
    ['stop', 'deliver'],
    ['stop', 'commitReply'],
    ['stop', 'commitResults'],
    ['stop', 'commitCompaction'],
    ['block', 'commitReply'],
  ])(
    '%s before %s: the other takes over, the late commit is refused [I7, I8, faults 19-21]',
    async ([act, verb], { onTestFinished }) => {
      const host = await makeHost(onTestFinished)
      const away = host.start(agent('p0'), { failpoint: `${verb}.before:1:${act}` })
      await away.ready
      await host.using(async (store) => {
        const client = new SendingClient({
          store,
          folder: host.folder,
          name: 'driver',
          sessions: [id],
        })
        await until('the owner is away', async () => {
          if (!away.stdout.includes('ing\n')) await client.send()
          return away.stdout.includes('ing\n')
        })
        if (act === 'stop') await host.untilStopped(away)
        const held = await store.findSession(sessionId(id))
        // Its own lease is long, so that it keeps what it acquires on a busy machine.
        host.start({ ...agent('p1'), lease: CALM_LEASE })
        await until('the other has taken over', async () => {
          const row = await store.findSession(sessionId(id))
          return (row?.fence ?? 0) > (held?.fence ?? 0)
        })
        await host.callBack(away)
        await until('the late commit is refused', () =>
          host.lines('outcomes').includes(`p0 ${verb} superseded`),
        )
        await client.run(0, 5)
        expect(findingsOf(await judge(host))).toEqual([])
      })
    },
  )
})

describe.concurrent('an owner that is asked to end', { timeout: TEST_MS_MAX }, () => {
  it('releases everything at once, in the middle of a turn, and the next owner continues [fault 79]', async ({
    onTestFinished,
  }) => {
    const host = await makeHost(onTestFinished)
    // Longer than this test: only a released lease can be acquired.
    const lease = { leaseMs: 480_000, renewMs: 30_000, marginMs: 20_000, pollMs: 30 }
    const paces = { ...PACES, stepMs: 60_000 }
    const first = host.start({ ...agent('p0'), lease, paces })
    await first.ready
    await host.using(async (store) => {
      const client = new SendingClient({
        store,
        folder: host.folder,
        name: 'driver',
        sessions: [id],
      })
      await client.send()
      await until('a step runs', () => host.lines('views').length > 0)
      first.kill('SIGTERM')
      expect(await first.ended).toEqual({ code: 0, signal: null })
      const row = await store.findSession(sessionId(id))
      expect([row?.runner, row?.holder, row?.turnState]).toEqual([null, null, 'running'])
      expect(await store.listRunners()).toEqual([])
      host.start({ ...agent('p1'), lease })
      expect(findingsOf(await judge(host))).toEqual([])
    })
  })
})
