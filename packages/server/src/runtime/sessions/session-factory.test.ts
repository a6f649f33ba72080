import { expect, it } from 'vitest'
import { openMemoryStore } from '#core/store/memory/open'
import { open } from '../../../../../test/support/runtime-place.ts'

it('the error names a route that others keep moving', async () => {
  const { runtime } = await open({
    store: {
      ...openMemoryStore(),
      startAfresh: async () => ({ kind: 'route-changed', version: 1 }),
    },
  })
  const route = { agent: 'main', channel: 'telegram', address: '42' }
  await expect(runtime.startAfresh({ ...route, source: 'test', key: 'k' })).rejects.toThrow(
    'The route ["main","telegram","42"] was moved by others',
  )
})
