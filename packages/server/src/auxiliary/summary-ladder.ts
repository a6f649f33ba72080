import { hash } from 'node:crypto'
import type { Clock } from '#core/base/clock'
import type { SummaryFault } from '#core/compaction/judge/judge-summary'
import type { SummaryRequest } from '#core/compaction/summary/prompt'
import {
  SummaryFailedError,
  type SummaryReply,
  WriterOverflowError,
} from '#core/compaction/summary/summary-writer'
import { textOf } from '#core/message/text'
import { estimateText } from '#core/tokens/estimate'
import { familyOf } from '#core/tokens/family'
import { destinationOf } from '../model/routes/route.ts'
import type { Routes } from '../model/routes/routes.ts'
import { capabilitiesOf } from '../model/routes/windows.ts'
import { addSpend, NOTHING_SPENT, type Spend } from './attempts.ts'
import { isOfTheRoute } from './breaker.ts'
import {
  type PreparedRequest,
  prepareRequest,
  type Rung,
  rungsOf,
  type SummaryRange,
  type SummarySettings,
} from './summary-rungs.ts'
import { type AuxiliaryTasks, COOLING_DOWN, type TaskRequest } from './tasks.ts'

/**
 * The rungs of one summary, tried in order until one succeeds. A failed call has already been
 * retried on a fresh connection; an answer that is not a summary is requested once more on a fresh
 * one. All rungs share one deadline: each may be silent only for its share, and one that is being
 * answered has all the remaining time.
 */
export interface LadderParts {
  readonly tasks: AuxiliaryTasks
  readonly routes: Routes
  readonly clock: Clock
  readonly summaries?: SummarySettings
}

/** The first digits of the hash of the whole prompt, without the quoted range. */
function promptHash({ system, ask }: SummaryRequest): string {
  return hash('sha256', `${system}\n${ask}`.toWellFormed(), 'hex').slice(0, 12)
}

export class SummaryLadder {
  readonly #parts: LadderParts
  readonly #covered: SummaryRange
  #hasPieces = false
  #spend = NOTHING_SPENT

  constructor(parts: LadderParts, covered: SummaryRange) {
    this.#parts = parts
    this.#covered = covered
  }

  /** The total of all attempts so far. */
  get spend(): Spend {
    return this.#spend
  }

  /**
   * A `SummaryWriter`: rejects with `SummaryFailedError`, or `WriterOverflowError` for less. The
   * caller checks each reply, and calls `next` for that of the next rung.
   */
  async write(request: PreparedRequest, signal: AbortSignal): Promise<SummaryReply> {
    const replies = this.#climb(request, signal)
    const take = async (fault?: SummaryFault): Promise<SummaryReply> => {
      const { value, done } = await replies.next(fault)
      if (done) throw new SummaryFailedError(value)
      return { ...value, next: take }
    }
    return await take()
  }

  /** Yields each answer and receives its fault; returns why no rung is left. */
  async *#climb(
    given: PreparedRequest,
    signal: AbortSignal,
  ): AsyncGenerator<SummaryReply, string, SummaryFault | undefined> {
    this.#hasPieces ||= given.piece !== undefined
    const request = given.isClean === undefined ? prepareRequest(given, this.#covered) : given
    const { deadlines } = this.#parts.tasks.settingsOf('compaction')
    const endsAt = this.#parts.clock.monotonic() + deadlines.totalMs
    const rungs = rungsOf(this.#parts, this.#covered, {
      request,
      mayGoAsItIs: !this.#hasPieces && request.shortens !== true && request.isClean === true,
    })
    let reason = 'no-route'
    // Rewording the request would not help.
    const down = new Set<string>()
    for (const [index, rung] of rungs.entries()) {
      if (rung.name === 'fresh' && !reason.startsWith('unusable')) continue
      const [route, ...behind] = rung.routes.filter((each) => !down.has(destinationOf(each)))
      if (route === undefined) continue
      if (isTooLong(rung)) {
        // As quoted text it may fit; a range that is already quoted is summarized in pieces.
        if (rung.request.isVerbatim) continue
        throw new WriterOverflowError(capabilitiesOf(rung.routes[0]).windowTokens)
      }
      const remainingMs = Math.max(0, endsAt - this.#parts.clock.monotonic())
      const shareMs = remainingMs / (rungs.length - index)
      const asked = reason === CUT_SHORT ? withMoreOutput(rung) : rung.request
      const outcome = await this.#parts.tasks.run('compaction', asked, {
        sessionId: this.#covered.sessionId,
        signal,
        routes: [route, ...behind],
        deadlines: {
          connectMs: Math.min(deadlines.connectMs, shareMs),
          firstByteMs: Math.min(deadlines.firstByteMs, shareMs),
          idleMs: Math.min(deadlines.idleMs, shareMs),
          totalMs: remainingMs,
        },
        ...(rung.name === 'fresh' && { isFresh: true }),
        ...(rung.read !== undefined && { read: rung.read }),
      })
      this.#spend = addSpend(this.#spend, outcome.spend)
      if (outcome.kind === 'interrupted') return 'aborted'
      if (outcome.kind === 'answered') {
        const modelRoute = destinationOf(outcome.route)
        const provenance = { modelRoute, rung: rung.name, prompt: promptHash(request) }
        // A shortened summary keeps the provenance of the long one.
        const kept = request.shortens ? {} : { provenance }
        reason = `unusable:${yield { text: outcome.text, finish: 'stop', ...kept }}`
        continue
      }
      // The reason for a route's pause is more useful than the pause itself.
      if (outcome.reason !== COOLING_DOWN || reason === 'no-route') reason = outcome.reason
      if (rung.request.isVerbatim && isOfTheRoute(reason)) down.add(destinationOf(route))
      if (reason.startsWith('budget-spent')) break
      if (reason === 'overflow' && !rung.request.isVerbatim) {
        const limit = outcome.outcome?.kind === 'overflow' ? outcome.outcome.limitTokens : undefined
        throw new WriterOverflowError(limit)
      }
    }
    return reason
  }
}

/** If our own count is too long, do not send the request only to be refused. */
function isTooLong(rung: Rung): boolean {
  return spareTokens(rung) < 0
}

function spareTokens({ request, routes: [route] }: Rung): number {
  const family = familyOf(route.model)
  const texts = request.messages.map((message) => estimateText(textOf(message), family))
  const tokens = texts.reduce((sum, each) => sum + each, request.outputTokensMax ?? 0)
  return capabilitiesOf(route).windowTokens - tokens
}

const CUT_SHORT = 'unusable:length'
/** Enough for long reasoning of current models. */
const THOUGHT_TOKENS = 8_000

/** Reasoning counts as output and may use all of it; the retry leaves space for the summary. */
function withMoreOutput(rung: Rung): TaskRequest {
  const { outputTokensMax = 0, ...request } = rung.request
  const more = Math.max(0, Math.min(THOUGHT_TOKENS, spareTokens(rung)))
  return { ...request, outputTokensMax: outputTokensMax + more }
}
