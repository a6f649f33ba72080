import { DiscordAPIError, HTTPError, RateLimitError } from 'discord.js'
import { KnownError } from '#core/base/errors'
import type { Sent } from '../chat/platform.ts'

/** Maps a failed Discord request to the outcomes of the platform interface. */

const UNKNOWN_MESSAGE = 10_008
const UNAUTHORIZED = 401
const TOO_MANY = 429

export class DiscordTokenError extends KnownError {
  override readonly name = 'DiscordTokenError'
  readonly code = 'discord-token'
  readonly retryable = false
}

export function discordFailure(error: unknown): Extract<Sent, { kind: 'failed' }> {
  if (error instanceof RateLimitError) {
    const retryAfterMs = Math.max(error.retryAfter, error.sublimitTimeout)
    return { kind: 'failed', why: 'rate', retryAfterMs, text: 'Discord asks for fewer messages' }
  }
  if (error instanceof DiscordAPIError) {
    const text = `Discord answered ${error.status} (code ${error.code})`
    if (error.code === UNKNOWN_MESSAGE) return { kind: 'failed', why: 'gone', text }
    // A token can be replaced and a rate limit ends; all other refusals are final.
    const isPassing = error.status === UNAUTHORIZED || error.status === TOO_MANY
    return { kind: 'failed', why: isPassing ? 'outage' : 'final', text }
  }
  const text = error instanceof HTTPError ? `Discord answered ${error.status}` : 'no connection'
  return { kind: 'failed', why: 'outage', text }
}

/** The channel is gone or closed to us, so there is nothing to read, now or later. */
export function isInaccessible(error: unknown): boolean {
  return error instanceof DiscordAPIError && (error.status === 403 || error.status === 404)
}

/** The bot's own id is the first part of its token, in base64. */
export function accountOf(token: string): string {
  const id = Buffer.from(token.split('.')[0] ?? '', 'base64').toString('latin1')
  if (/^\d{5,20}$/.test(id)) return id
  throw new DiscordTokenError(
    'A Discord bot token has three parts with dots between them, and its first part is a number ' +
      'in base64; what was found has another form. Copy the token again from the page of the bot.',
  )
}
