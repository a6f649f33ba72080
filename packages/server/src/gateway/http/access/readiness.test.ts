import { expect, it } from 'vitest'
import { openMemoryStore } from '#core/store/memory/open'
import { openRuntime } from '../../../runtime/open-runtime.ts'
import { readinessOf } from './readiness.ts'

it('reads the store once for all requests within a quarter of a second', async () => {
  const store = openMemoryStore()
  const runtime = await openRuntime({ store, agents: [], runs: false })
  let [now, looks] = [0, 0]
  const health = () => {
    looks += 1
    return runtime.health()
  }
  const readiness = readinessOf({ health }, { monotonic: () => now })
  const asked = Array.from({ length: 50 }, () => readiness())
  expect(new Set(await Promise.all(asked))).toEqual(new Set([null]))
  expect([await readiness(), looks]).toEqual([null, 1])
  now = 250
  expect([await readiness(), looks]).toEqual([null, 2])
  await runtime.close()
  await store.close()
  now = 500
  expect([await readiness(), looks]).toEqual(['store-closed', 3])
})
