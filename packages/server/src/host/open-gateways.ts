import { systemClock } from '#core/base/clock'
import type { ChatGateway } from '../gateway/chat/chat-gateway.ts'
import type { Platform } from '../gateway/chat/platform.ts'
import { UsageError } from './errors.ts'
import type { Host } from './open-host.ts'
import { readSecret } from './read-secret.ts'

/** The configured chat platforms; the code of others is not loaded. */
export interface OpenGateways {
  /** The opened accounts, for the welcome message: `telegram:7001`. */
  readonly names: readonly string[]
  close(): Promise<void>
}

export async function openGateways(host: Host): Promise<OpenGateways> {
  const { telegram, discord } = host.loaded.config.gateways
  const openers: {
    readonly [name in keyof GatewaysConfig]-?: () => Promise<ChatGateway> | undefined
  } = {
    telegram: () => telegram && openTelegram(host, telegram),
    discord: () => discord && openDiscord(host, discord),
  }
  const opened: ChatGateway[] = []
  for (const open of Object.values(openers)) {
    const gateway = await open()
    if (gateway !== undefined) opened.push(gateway)
  }
  return {
    names: opened.map(({ name }) => name),
    async close() {
      await Promise.all(opened.map((gateway) => gateway.close()))
    },
  }
}

type GatewaysConfig = Host['loaded']['config']['gateways']
type TelegramConfig = NonNullable<GatewaysConfig['telegram']>

async function openTelegram(host: Host, config: TelegramConfig) {
  const { runtime, store, logger } = host
  const { apiRoot, webhook, allow, mention: needsMention } = config
  const { Telegram } = await import('../gateway/telegram/telegram.ts')
  const { openChatGateway } = await import('../gateway/chat/chat-gateway.ts')
  const platform = new Telegram({
    apiRoot,
    editEveryMs: config.editSeconds * 1_000,
    token: await readSecret(config.token, process.env),
    ...(webhook !== undefined && {
      webhook: { ...webhook, secret: await readSecret(webhook.secret, process.env) },
    }),
  })
  const agent = configuredAgent(host, 'gateways.telegram.agent', config.agent)
  return openChatGateway({ platform, runtime, drafts: store, agent, allow, needsMention, logger })
}

type DiscordConfig = NonNullable<GatewaysConfig['discord']>

async function openDiscord(host: Host, config: DiscordConfig) {
  const { runtime, store, logger } = host
  const { apiUrl, allow, attachments, mention: needsMention } = config
  const { DiscordPlatform } = await import('../gateway/discord/discord.ts')
  const { findLastToolCall } = await import('../gateway/discord/last-tool-call.ts')
  const { findMark } = await import('../gateway/discord/resume-point.ts')
  const { openChatGateway } = await import('../gateway/chat/chat-gateway.ts')
  const agent = configuredAgent(host, 'gateways.discord.agent', config.agent)
  const platform: Platform = new DiscordPlatform({
    ...{ apiUrl, allow, attachments, logger, clock: systemClock },
    token: await readSecret(config.token, process.env),
    bots: allow.bots,
    editEveryMs: config.editSeconds * 1_000,
    answersAll: !needsMention,
    findMark: (address) =>
      findMark(store, { agent, channel: `${platform.name}:${platform.account}`, address }),
    findAct: (address, bots) => {
      const agents = runtime.agents.map(({ name }) => name)
      return findLastToolCall(store, { agents, bots, address })
    },
    // The same threshold for short messages as in the agent's own tool.
    loopRule: host.loaded.config.agents[agent]?.tools.send_message ?? null,
  })
  return openChatGateway({ platform, runtime, drafts: store, agent, allow, needsMention, logger })
}

/** The agent that a key of the configuration names, or the first. */
export function configuredAgent(
  { runtime }: Host,
  key: string,
  wanted: string | undefined,
): string {
  const names = runtime.agents.map(({ name }) => name)
  const [first] = names
  const name = wanted ?? first
  if (name !== undefined && names.includes(name)) return name
  throw new UsageError(
    `${key} names the unknown agent ${wanted}. Configured: ${names.join(', ') || 'none'}.`,
  )
}
