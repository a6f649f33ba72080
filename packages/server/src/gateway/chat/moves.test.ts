import { expect, it } from 'vitest'
import type { SessionId } from '#core/base/ids'
import { create } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { earlierRoutes, followMove, moveRoutes } from './moves.ts'

const at = (channel: string, address: string) => ({ agent: 'main', channel, address })

it('a chat that moves keeps its own earlier ids, and takes no route of another channel', async () => {
  const store = openMemoryStore()
  const [first, second] = [await create(store), await create(store)]
  const group = at('telegram:bot', 'group')
  const supergroup = at('telegram:bot', 'supergroup')
  const others = [at('discord:bot', 'channel'), at('telegram:other-bot', 'group')]
  for (const route of [group, ...others]) {
    await store.pointRoute({ route, sessionId: first, version: 0 })
  }
  await followMove(store, group, supergroup.address)
  const earlier = await earlierRoutes(store, supergroup)
  expect(earlier).toMatchObject([group])
  await moveRoutes(store, earlier, second)
  const targets: (SessionId | undefined)[] = []
  for (const route of [group, supergroup, ...others]) {
    targets.push((await store.findRoute(route))?.sessionId)
  }
  expect(targets).toEqual([second, first, first, first])
})
