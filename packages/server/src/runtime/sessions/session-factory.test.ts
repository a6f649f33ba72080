import { expect, it } from 'vitest'
import { openMemoryStore } from '#core/store/memory/open'
import { open } from '../../../../../test/support/runtime-place.ts'

it('a route that others move all the time is named to whoever asks for a new session there', async () => {
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
