import { systemClock } from '../../../packages/core/src/base/clock.ts'
import { type Logger, SILENT } from '../../../packages/core/src/base/logger.ts'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../../packages/core/src/store/memory/open.ts'
import {
  type ChatGateway,
  openChatGateway,
} from '../../../packages/server/src/gateway/chat/chat-gateway.ts'
import { Telegram } from '../../../packages/server/src/gateway/telegram/telegram.ts'
import { routesSchema } from '../../../packages/server/src/model/routes/routes.ts'
import type { Agent } from '../../../packages/server/src/runtime/agent.ts'
import {
  type LocalRuntime,
  openRuntime,
  type RuntimeOptions,
} from '../../../packages/server/src/runtime/open-runtime.ts'
import {
  type StandIn,
  type StandInOptions,
  standIn,
} from '../../../packages/server/src/stand-in/index.ts'
import { BotApiServer, TOKEN } from '../bot-api-server.ts'
import type { ChatPlace, Heard } from '../contract.ts'

export interface TelegramPlace extends ChatPlace {
  readonly api: BotApiServer
  readonly gateway: ChatGateway
  readonly model: StandIn
}

export interface TelegramPlaceOptions {
  readonly model?: StandInOptions
  readonly windowTokens?: number
  readonly editEveryMs?: number
  readonly users?: readonly string[]
  readonly chats?: readonly string[]
  readonly webhook?: { readonly url: string; readonly port: number; readonly secret: string }
  readonly runs?: boolean
  readonly agent?: Partial<Agent>
  /** Puts something in the place of the store. */
  readonly seam?: (store: Store) => Store
  readonly seams?: RuntimeOptions['seams']
  readonly logger?: Logger
}

/** What writes summaries, so that they alone can be slow. */
export const SUMMARIES = 'stand-in-summaries'

/** The person of the suite, and somebody whom nobody allowed. */
export const ADA = 42
const STRANGER = 666

/** A whole product in one process, with Telegram before it through grammY and a real socket. */
export async function openTelegramPlace(
  options: TelegramPlaceOptions = {},
): Promise<TelegramPlace> {
  const api = await new BotApiServer().start()
  const store = openMemoryStore()
  const seamed = options.seam?.(store) ?? store
  const model = standIn(options.model)
  const running = await model.start()
  const main = {
    provider: 'openai-chat',
    baseUrl: `${running.url}/v1`,
    credential: { kind: 'none' },
    model: 'stand-in',
    windowTokens: options.windowTokens ?? 200_000,
  }
  const compaction = { ...main, model: SUMMARIES, windowTokens: 1_000_000 }
  const routes = routesSchema.parse({ main, auxiliary: { compaction } })
  const agent = { name: 'main', system: 'You help.', routes, ...options.agent }
  const { runs = true, seams = {} } = options
  const parts = { store: seamed, agents: [agent], runs, seams }
  const runtime: LocalRuntime = await openRuntime(parts)
  const openPlatform = () =>
    new Telegram({
      token: TOKEN,
      apiRoot: api.url,
      retryMs: 20,
      editEveryMs: options.editEveryMs ?? 200,
      ...(options.webhook !== undefined && {
        webhook: { host: '127.0.0.1', ...options.webhook },
      }),
    })
  const openGateway = () =>
    openChatGateway({
      platform: openPlatform(),
      runtime,
      drafts: seamed,
      agent: 'main',
      allow: { users: options.users ?? [String(ADA)], chats: options.chats ?? [] },
      needsMention: true,
      logger: options.logger ?? SILENT,
      clock: systemClock,
    })
  const gateway = openGateway()
  const others: ChatGateway[] = []
  const texts = (chat = ADA) => api.chat(chat).map(({ text }) => text)
  return {
    api,
    gateway,
    store,
    runtime,
    model,
    channel: gateway.name,
    address: String(ADA),
    strangerId: String(STRANGER),
    lengthMax: 4_096,
    say: (text) => heard(api, api.say({ text })),
    sayAsStranger: (text) => {
      const who = { id: STRANGER }
      return heard(api, api.say({ text, from: who, chat: { ...who, type: 'private' } }))
    },
    sayRaw: (fields) => {
      api.push({ message: { ...api.messageOf({ text: 'raw' }), ...fields } })
    },
    textField: 'text',
    change: ({ update }, text) => heard(api, api.edit(Number(update), text)),
    tellAgain: ({ update }) => api.again(Number(update)),
    isAcknowledged: ({ update }) => api.isAcknowledged(Number(update)),
    shown: () => texts(),
    shownToStranger: () => texts(STRANGER),
    sends: () => api.count('sendMessage'),
    limitNext: (seconds) => {
      const refusal = { code: 429, description: 'Too Many Requests', retryAfter: seconds }
      api.refuseNext(/^sendMessage$/, refusal)
    },
    refuseMarkupNext: () => {
      const description = "Bad Request: can't parse entities: unsupported start tag"
      api.refuseNext(/^sendMessage$/, { code: 400, description })
    },
    cut: () => api.die(),
    restore: () => api.live(),
    rival: () => {
      others.push(openGateway())
    },
    async close() {
      await Promise.all([gateway, ...others].map((each) => each.close()))
      await runtime.close()
      await running.close()
      await store.close()
      await api.close()
    },
  }
}

function heard(api: BotApiServer, update: number): Heard {
  const { message } = api.updateOf(update) as { message?: { message_id: number } }
  return { update: String(update), message: String(message?.message_id ?? '') }
}
