import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { thisHost } from '#core/base/host'
import { runnerId } from '#core/base/ids'
import { openMemoryStore } from '#core/store/memory/open'
import { readHealth } from './health.ts'

const NOTHING = {
  runner: null,
  edges: [],
  models: { health: async () => [], connections: { opened: 0, open: 0, evicted: 0 } },
  storeError: null,
  problems: [],
}

it('lists the processes that use the store, without one killed on this host', async (context) => {
  if (process.platform !== 'linux') return context.skip('not run: only Linux tells who is gone')
  const store = openMemoryStore()
  const { boot } = thisHost()
  const past = spawnSync(process.execPath, ['-e', '']).pid
  const about = { startedAt: 0, leaseMs: 1_000 }
  const killed = { boot, process: past }
  await store.registerRunner({ id: runnerId('killed'), ...killed, ...about })
  await store.registerRunner({ id: runnerId('elsewhere'), ...killed, boot: 'other', ...about })
  await store.registerRunner({ id: runnerId('living'), ...thisHost(), ...about })
  const { runners } = await readHealth({ store, ...NOTHING })
  expect(runners.map(({ id }) => id).sort()).toEqual(['elsewhere', 'living'])
})
