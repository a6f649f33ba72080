import { expect, it } from 'vitest'
import { SILENT } from '../../packages/core/src/base/logger.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { openChatGateway } from '../../packages/server/src/gateway/chat/chat-gateway.ts'
import { routesSchema } from '../../packages/server/src/model/routes/routes.ts'
import { openRuntime } from '../../packages/server/src/runtime/open-runtime.ts'
import { standIn } from '../../packages/server/src/stand-in/index.ts'
import { ExamplePlatform, type ExampleRooms } from './smallest-platform.ts'

type Take = Parameters<Parameters<ExampleRooms['listen']>[0]>[0]

it('answers in the room of a message, once, and acknowledges each copy of it', async () => {
  const posted: string[] = []
  const acknowledged: string[] = []
  let take: ((message: Take) => Promise<void>) | undefined
  const rooms: ExampleRooms = {
    listen: (taken) => {
      take = taken
    },
    post: async (room, text) => ({ id: String(posted.push(`${room}: ${text}`)) }),
    leave: async () => {},
  }
  const model = await standIn().start()
  const store = openMemoryStore()
  const main = {
    ...{ provider: 'openai-chat', baseUrl: `${model.url}/v1`, credential: { kind: 'none' } },
    ...{ model: 'stand-in', windowTokens: 200_000 },
  }
  const agent = { name: 'main', system: 'You help.', routes: routesSchema.parse({ main }) }
  const runtime = await openRuntime({ store, agents: [agent] })
  const gateway = openChatGateway({
    ...{ platform: new ExamplePlatform(rooms), runtime, drafts: store, agent: 'main' },
    ...{ allow: { users: [], chats: ['quay'] }, needsMention: false, logger: SILENT },
  })
  const say = (id: string, text: string) =>
    take?.({
      ...{ id, room: 'quay', author: 'ada', text },
      acknowledge: async () => void acknowledged.push(id),
    })
  await say('m1', 'say The fog lifts.')
  await say('m1', 'say The fog lifts.')
  await expect.poll(() => posted).toHaveLength(1)
  await say('m2', 'say The ferry leaves.')
  await expect.poll(() => posted).toEqual(['quay: The fog lifts.', 'quay: The ferry leaves.'])
  expect(acknowledged).toEqual(['m1', 'm1', 'm2'])
  await gateway.close()
  await runtime.close()
  await model.close()
  await store.close()
})
