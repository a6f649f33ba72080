import { createHash } from 'node:crypto'
import { Client, Events, GatewayIntentBits, MessageFlags, Options } from 'discord.js'

/** discord.js with its connection and rate limits, but without its caches. */

const API_URL = 'https://discord.com/api'
const REQUEST_MS_MAX = 15_000
const NONCE_LENGTH_MAX = 25
/** Shorter rate-limit delays are waited out here; the caller handles longer ones. */
const LIMIT_WAIT_MS_MAX = 5_000

export function newDiscordClient({
  token,
  apiUrl = API_URL,
}: {
  readonly token: string
  readonly apiUrl?: string
}): Client {
  const client = new Client({
    intents: [
      ...[GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages],
      ...[GatewayIntentBits.DirectMessages, GatewayIntentBits.MessageContent],
    ],
    // Messages are in the transcript; only the channels are cached.
    makeCache: Options.cacheWithLimits({
      ...{ MessageManager: 0, ReactionManager: 0, PresenceManager: 0, GuildMemberManager: 0 },
    }),
    allowedMentions: { parse: [] },
    rest: {
      ...{ api: apiUrl, timeout: REQUEST_MS_MAX, retries: 1 },
      rejectOnRateLimit: ({ retryAfter, sublimitTimeout }) =>
        Math.max(retryAfter, sublimitTimeout) > LIMIT_WAIT_MS_MAX,
    },
  })
  // Replies may be sent before the gateway is connected.
  client.rest.setToken(token)
  keepErrorsIn(client)
  return client
}

/**
 * discord.js reads each packet for its caches, after us. A packet that it cannot read makes it throw
 * where no handler can catch it, which would end the process: one message could stop the server.
 */
function keepErrorsIn(client: Client): void {
  const handle: unknown = Reflect.get(client.ws, 'handlePacket')
  if (typeof handle !== 'function') throw new Error('This discord.js handles packets elsewhere.')
  const handlePacket = (...packet: unknown[]): unknown => {
    try {
      return Reflect.apply(handle, client.ws, packet)
    } catch (error) {
      client.emit(Events.Error, error instanceof Error ? error : new Error('unknown'))
      return false
    }
  }
  Reflect.set(client.ws, 'handlePacket', handlePacket)
}

/**
 * For each message that we send: it notifies nobody, and Discord fetches none of its links. For a
 * preview it would call an address that a model wrote, with whatever the model put into it, before
 * anyone has clicked on it.
 */
export const WITHOUT_EFFECTS = {
  allowed_mentions: { parse: [] },
  flags: MessageFlags.SuppressEmbeds,
} as const

export const TOKEN_REFUSED = 4004

const REFUSALS: { readonly [code: number]: string } = {
  [TOKEN_REFUSED]:
    'Discord refuses the token of the bot: put a new one where the configuration says.',
  4014: 'Discord refuses what the bot wants to read: switch on "Message Content Intent" for it.',
}

/** Why Discord ended the connection, and what an operator can do. */
export function refusalText(code: number): string {
  return REFUSALS[code] ?? `Discord closed the connection for good (code ${code}).`
}

/** Discord rejected the token; no connection was made. */
export function isTokenInvalid(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'TokenInvalid'
}

/** Discord accepts 25 characters; the same reply must always get the same nonce. */
export function nonceOf(nonce: string): string {
  if (nonce.length <= NONCE_LENGTH_MAX) return nonce
  return createHash('sha256').update(nonce).digest('base64url').slice(0, NONCE_LENGTH_MAX)
}
