import { systemClock } from '../../../packages/core/src/base/clock.ts'
import { SILENT } from '../../../packages/core/src/base/logger.ts'
import { textOf } from '../../../packages/core/src/message/text.ts'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../../packages/core/src/store/memory/open.ts'
import {
  type ChatGateway,
  openChatGateway,
} from '../../../packages/server/src/gateway/chat/chat-gateway.ts'
import type { Incoming, Platform } from '../../../packages/server/src/gateway/chat/platform.ts'
import { DiscordPlatform } from '../../../packages/server/src/gateway/discord/discord.ts'
import { findLastToolCall } from '../../../packages/server/src/gateway/discord/last-tool-call.ts'
import { findMark } from '../../../packages/server/src/gateway/discord/resume-point.ts'
import { routesSchema } from '../../../packages/server/src/model/routes/routes.ts'
import type { Agent } from '../../../packages/server/src/runtime/agent.ts'
import {
  type LocalRuntime,
  openRuntime,
  type RuntimeOptions,
} from '../../../packages/server/src/runtime/open-runtime.ts'
import {
  type Script,
  type StandIn,
  type StandInOptions,
  standIn,
} from '../../../packages/server/src/stand-in/index.ts'
import { LOOP_RULE, type LoopRule } from '../../../packages/server/src/tools/send-message/loop.ts'
import { DiscordServer } from './server.ts'
import type { ChannelRow, MessageRow, UserRow } from './world.ts'

/** A bot on the local Discord: platform, gateway and runtime in this process, the model beside it. */
export interface BotTerms {
  readonly allow?: { readonly chats: readonly string[]; readonly users: readonly string[] }
  readonly bots?: readonly string[]
  readonly needsMention?: boolean
  readonly loopRule?: LoopRule | null
  readonly store?: Store
  readonly agent?: string
  /** What is otherwise than with other agents. */
  readonly as?: Partial<Agent>
  readonly windowTokens?: number
  readonly editEveryMs?: number
  readonly runs?: boolean
  /** Stands between the product and its store. */
  readonly seam?: (store: Store) => Store
  readonly seams?: RuntimeOptions['seams']
  readonly onTaken?: (incoming: Incoming) => void
}

export interface Bot {
  readonly user: UserRow
  readonly runtime: LocalRuntime
  readonly gateway: ChatGateway
  readonly platform: Platform
  readonly store: Store
  close(): Promise<void>
}

/** Of the form that Discord's have: the bot's id, then what is secret. */
export function tokenOf(id: string): string {
  return `${Buffer.from(id).toString('base64')}.local.secret`
}

/** Repeats what it was told since it spoke last; a handoff where one is wanted. */
export const ECHO: Script = ({ messages, model }) => {
  if (model === SUMMARIES) return undefined
  const spoke = messages.findLastIndex(({ role }) => role === 'assistant')
  const told = messages.slice(spoke + 1).filter(({ role }) => role === 'user')
  return { text: `heard: ${told.map((message) => textOf(message)).join(' / ')}` }
}

export const SUMMARIES = 'stand-in-summaries'
const SUMMARY_WINDOW = 1_000_000
const WAIT_MS_MAX = 60_000

export class DiscordPlace {
  readonly discord: DiscordServer
  readonly model: StandIn
  readonly modelUrl: string
  readonly #closers: (() => Promise<void>)[] = []

  static async open(options: StandInOptions = { script: ECHO }): Promise<DiscordPlace> {
    const discord = await new DiscordServer().start()
    const model = standIn(options)
    const running = await model.start()
    const place = new DiscordPlace(discord, model, running.url)
    place.#closers.push(
      () => discord.close(),
      () => running.close(),
    )
    return place
  }

  private constructor(discord: DiscordServer, model: StandIn, modelUrl: string) {
    this.discord = discord
    this.model = model
    this.modelUrl = modelUrl
  }

  get world() {
    return this.discord.world
  }

  /** An account; it does nothing until it is connected. */
  addBot(name: string): UserRow {
    return this.world.addBot(name, tokenOf)
  }

  /** Resolves when it is connected. */
  async connect(user: UserRow, terms: BotTerms = {}): Promise<Bot> {
    const before = this.discord.connectionsOf(user)
    const bot = await this.start(user, terms)
    await this.until(() => this.discord.connectionsOf(user) > before)
    return bot
  }

  async start(user: UserRow, terms: BotTerms = {}): Promise<Bot> {
    const { store = openMemoryStore(), agent = 'main', windowTokens = 200_000 } = terms
    const seamed = terms.seam?.(store) ?? store
    const agents = [{ ...this.agentOf(agent, windowTokens), ...terms.as }]
    const { runs = true, seams = {} } = terms
    const runtime = await openRuntime({ store: seamed, agents, runs, seams })
    const { platform, gateway } = this.open(user, { ...terms, store: seamed, runtime })
    const close = once(async () => {
      await gateway.close()
      await runtime.close()
    })
    this.#closers.push(close)
    return { user, runtime, platform, gateway, store, close }
  }

  /** Platform and gateway on a runtime that is there already. */
  open(user: UserRow, terms: BotTerms & { store: Store; runtime: LocalRuntime }) {
    const opened = openBot(this.discord.url, user.id, terms)
    this.#closers.push(() => opened.gateway.close())
    return opened
  }

  agentOf(name: string, windowTokens: number) {
    return agentOn(this.modelUrl, name, windowTokens)
  }

  /** What a bot said in a channel, in order. */
  said(channel: ChannelRow, bot: UserRow): readonly string[] {
    return this.messagesOf(channel, bot).map(({ content }) => content)
  }

  messagesOf(channel: ChannelRow, bot: UserRow): readonly MessageRow[] {
    return this.world.messages(channel).filter(({ author }) => author?.id === bot.id)
  }

  async untilSaid(channel: ChannelRow, bot: UserRow, count: number): Promise<readonly string[]> {
    await this.until(
      () => this.said(channel, bot).length >= count,
      () => JSON.stringify(this.said(channel, bot)),
    )
    return this.said(channel, bot)
  }

  async until(holds: () => boolean, tell: () => string = () => ''): Promise<void> {
    const endsAt = performance.now() + WAIT_MS_MAX
    while (!holds()) {
      if (performance.now() > endsAt) throw new Error(`It did not come to that. ${tell()}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  async close(): Promise<void> {
    for (const close of this.#closers.toReversed()) await close()
  }
}

/** Platform and gateway of one bot, on the Discord at this address. */
export function openBot(
  apiUrl: string,
  id: string,
  terms: BotTerms & { store: Store; runtime: LocalRuntime },
) {
  const { allow = { chats: [], users: [] }, bots = [], needsMention = true } = terms
  const { store, runtime, agent = 'main', loopRule = LOOP_RULE, editEveryMs = 2_000 } = terms
  const channel = `discord:${id}`
  const platform = new DiscordPlatform({
    token: tokenOf(id),
    apiUrl,
    ...{ allow, bots, answersAll: !needsMention, clock: systemClock, logger: SILENT },
    attachments: { hosts: [new URL(apiUrl).host], bytesMax: 100_000 },
    findMark: (address) => findMark(store, { agent, channel, address }),
    findAct: (address, bots) => {
      const agents = runtime.agents.map(({ name }) => name)
      return findLastToolCall(store, { agents, bots, address })
    },
    loopRule,
    editEveryMs,
    retryMs: 20,
  })
  const gateway = openChatGateway({
    ...{ runtime, agent, needsMention, drafts: store },
    platform: watched(platform, terms.onTaken ?? (() => undefined)),
    allow: { ...allow, bots },
  })
  return { platform, gateway }
}

/** An agent whose model, and the one for summaries, is the stand-in at this address. */
export function agentOn(modelUrl: string, name: string, windowTokens: number) {
  const route = {
    provider: 'openai-chat',
    baseUrl: `${modelUrl}/v1`,
    credential: { kind: 'none' },
    windowTokens,
  }
  return {
    name,
    system: 'You help.',
    routes: routesSchema.parse({
      main: { ...route, model: 'stand-in' },
      auxiliary: { compaction: { ...route, model: SUMMARIES, windowTokens: SUMMARY_WINDOW } },
    }),
  }
}

/** Tells what was taken in, which Discord itself never learns. */
function watched(platform: Platform, onTaken: (incoming: Incoming) => void): Platform {
  const start = platform.start.bind(platform)
  platform.start = ({ receive, ...handlers }) =>
    start({
      ...handlers,
      receive: async (incoming) => {
        const reception = await receive(incoming)
        onTaken(incoming)
        return reception
      },
    })
  return platform
}

function once(run: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null
  return () => {
    done ??= run()
    return done
  }
}
