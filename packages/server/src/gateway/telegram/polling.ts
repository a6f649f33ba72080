import { type Api, BotError } from 'grammy'
import type { Update } from 'grammy/types'
import { type Clock, pause } from '#core/base/clock'
import { errorKind } from '../chat/error-kind.ts'
import { retryDelay } from '../chat/retry-delay.ts'
import { isConflict, isUnauthorized, readTelegramFailure } from './failures.ts'
import { UPDATE_KINDS } from './updates.ts'

/**
 * Polls for updates, one batch after another. Telegram treats the offset of a request as the
 * acknowledgment of everything before it, so the offset moves past an update only after that update
 * was accepted. A failed update is retried, and later ones wait for it.
 */
export interface Polling {
  readonly api: Api
  readonly take: (update: Update) => Promise<void>
  /** For an update that not even has an id. */
  readonly setAside: () => void
  readonly report: (problem: string | null) => void
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly retryMs: number
}

const WAIT_SECONDS = 30
const BACK_OFF_MAX = 5
/**
 * After this long without a conflict the other process has ended: its requests take half a minute.
 */
const CONFLICT_OVER_MS = 2 * WAIT_SECONDS * 1_000
const BYE_MS_MAX = 2_000

const CONFLICT =
  'Another process asks Telegram for updates with the same token, so each of us gets only some of ' +
  'them. Stop one of the two, or give it another bot.'
export const REFUSED = 'Telegram does not know this token. Ask @BotFather for the current one.'
export const UNREACHABLE = 'Telegram cannot be reached; trying again.'
/** About ten seconds. */
export const QUIET_FAILURES_MAX = 3
const NOT_TAKEN = 'An update of Telegram cannot be stored; trying again.'

export async function pollUpdates(polling: Polling): Promise<void> {
  const { api, signal, report } = polling
  let offset = 0
  let failures = 0
  let conflictAt = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    try {
      const updates = await ask(api, offset, WAIT_SECONDS, signal)
      const before = offset
      for (const update of updates) {
        if (!Number.isSafeInteger(update?.update_id)) {
          polling.setAside()
          continue
        }
        await takeUntilTaken(polling, update)
        if (signal.aborted) break
        offset = update.update_id + 1
      }
      // Telegram would send them again at once.
      if (updates.length > 0 && offset === before && !signal.aborted) throw new Error('No update.')
      failures = 0
      if (polling.clock.monotonic() - conflictAt > CONFLICT_OVER_MS) report(null)
    } catch (error) {
      if (signal.aborted) break
      if (isConflict(error)) conflictAt = polling.clock.monotonic()
      await rest(polling, error, failures++)
    }
  }
  await sayBye(api, offset)
}

type GrammySignal = NonNullable<Parameters<Api['getUpdates']>[1]>

/** grammY's type of a signal and Node's differ in name only. */
export function grammySignal(signal: AbortSignal): GrammySignal {
  return signal as GrammySignal
}

async function ask(
  api: Api,
  offset: number,
  timeout: number,
  signal: AbortSignal,
): Promise<readonly Update[]> {
  return await api.getUpdates(
    { offset, timeout, limit: 100, allowed_updates: UPDATE_KINDS },
    grammySignal(signal),
  )
}

async function takeUntilTaken(polling: Polling, update: Update): Promise<void> {
  const { clock, signal } = polling
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await polling.take(update)
      return
    } catch (error) {
      polling.report(`${NOT_TAKEN} (${errorKind(error instanceof BotError ? error.error : error)})`)
      await pause(clock, backOff(polling.retryMs, failures), signal)
    }
  }
}

/** Reports an outage only when it lasts. */
async function rest(polling: Polling, error: unknown, failures: number): Promise<void> {
  if (isConflict(error)) polling.report(CONFLICT)
  else if (isUnauthorized(error)) polling.report(REFUSED)
  else if (failures >= QUIET_FAILURES_MAX) polling.report(UNREACHABLE)
  const usualMs = backOff(polling.retryMs, failures)
  const delayMs = Math.max(usualMs, retryDelay(readTelegramFailure(error).retryAfterMs, usualMs))
  await pause(polling.clock, delayMs, polling.signal)
}

export function backOff(retryMs: number, failures: number): number {
  return retryMs * 2 ** Math.min(failures, BACK_OFF_MAX)
}

/**
 * Acknowledges the last updates on shutdown. If this fails they are sent again, which changes
 * nothing.
 */
async function sayBye(api: Api, offset: number): Promise<void> {
  if (offset === 0) return
  await ask(api, offset, 0, AbortSignal.timeout(BYE_MS_MAX)).catch(() => {})
}
