import { type EntryNumber, entryNumber, type MailNumber } from '../../base/ids.ts'
import { DELIVERY_MAX, WAITING_NOTE_TOKENS } from '../bounds.ts'
import { InvalidRequestError } from '../errors.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import type { InputLane, MailRow, TurnEnd } from '../tables/rows.ts'
import { newAttempts } from './attempts.ts'
import { Draft } from './change-builder.ts'
import { openInputs, openTokens } from './open-inputs.ts'
import { fencedAtTail, type Rule, tailOf } from './ruling.ts'

/**
 * Input enters the transcript in the order of its lane, never between a call and its result, and
 * never more than the input bound, counting unanswered input (decision 4, I34). The last entry
 * records how many messages are still waiting, so that the model knows that more will follow.
 */
export const deliverMail: Rule<'deliver'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  if (request.mail.length === 0 || request.mail.length > DELIVERY_MAX) {
    throw new InvalidRequestError({ problem: `A delivery takes 1 to ${DELIVERY_MAX} items.` })
  }
  if (session.openCalls.length > 0) return { outcome: { kind: 'calls-open' } }

  const draft = new Draft(rows, session, request.operation, stamp)
  const { inputTokens } = session.limits
  let tokens = openTokens(openInputs(rows, session))
  const { user, notification } = session.pending
  const left = user + notification - request.mail.length
  const entries: EntryNumber[] = []
  for (const number of request.mail) {
    const mail = rows.mail(session.id, number)
    if (mail === undefined || mail.lane === 'control' || !waits(mail, draft.session.delivered)) {
      return { outcome: { kind: 'not-pending', mail: number } }
    }
    const lane: InputLane = mail.lane
    const first = rows.firstWaiting(session.id, lane, draft.session.delivered[lane]) ?? number
    if (first !== number) return { outcome: { kind: 'out-of-order', mail: number, first } }
    // The first item always fits: a context shows an oversized one clipped.
    if (tokens > 0 && tokens + mail.tokens > inputTokens) {
      return { outcome: { kind: 'no-room', openTokens: tokens, inputTokens } }
    }
    tokens += mail.tokens
    const isTold =
      left > 0 && number === request.mail.at(-1) && tokens + WAITING_NOTE_TOKENS <= inputTokens
    const meta = { lane, mail: number, blobs: mail.blobs, ...(isTold && { waiting: left }) }
    entries.push(
      draft.append({ kind: 'input', meta }, { body: mail.body ?? 'null', tokens: mail.tokens }),
    )
    draft.unqueue(mail, {})
    draft.set({ delivered: { ...draft.session.delivered, [lane]: number } })
  }
  if (session.turnState === 'idle') startTurn(draft)
  draft.audit('message delivered', {
    mail: [...request.mail],
    from: entries[0] ?? 0,
    to: entries.at(-1) ?? 0,
    turn: draft.session.turn,
  })
  const { turn } = draft.session
  return {
    outcome: {
      kind: 'delivered',
      tail: tailOf(draft.session),
      written: draft.written,
      entries,
      turn,
    },
    change: draft.change(),
  }
}

function waits(mail: MailRow, delivered: Readonly<Record<InputLane, MailNumber>>): boolean {
  if (mail.lane === 'control' || mail.state !== 'admitted') return false
  return mail.number > delivered[mail.lane]
}

function startTurn(draft: Draft): void {
  const turn = draft.session.turn + 1
  draft.set({ turn, turnState: 'running', attempts: 0, losses: 0 })
  draft.audit('turn started', { turn })
}

const REASON_CHARACTERS_MAX = 2_000

/** Ends the turn. Input that no model has seen starts the next one at once (decision 13). */
function endTurn(draft: Draft, ended: TurnEnd, reason?: string): EntryNumber {
  const { turn } = draft.session
  const body = reason === undefined ? null : { reason: reason.slice(0, REASON_CHARACTERS_MAX) }
  const entry = draft.appendJson({ kind: 'turn', meta: { turn, ended } }, { body, tokens: 0 })
  draft.settleTurn()
  draft.set({ turnState: 'idle', attempts: 0, losses: 0 })
  draft.audit('turn ended', { turn, ended, entry })
  if (draft.unseenInputs().length > 0) startTurn(draft)
  return entry
}

/** The first commit of a step: the model's reply with its calls, before any tool starts. */
export const commitReply: Rule<'commitReply'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  const { step, ends, attempt } = request
  if (attempt !== undefined && attempt.sessionId !== session.id) {
    throw new InvalidRequestError({ problem: 'The model call belongs to another session.' })
  }
  if (step === undefined && ends === undefined) {
    throw new InvalidRequestError({ problem: 'A reply without a step must end its turn.' })
  }
  if (step !== undefined && ends !== undefined && step.calls.length > 0) {
    throw new InvalidRequestError({ problem: 'A reply with calls cannot end its turn.' })
  }
  if (step !== undefined && new Set(step.calls).size !== step.calls.length) {
    throw new InvalidRequestError({ problem: 'Two calls of one step have the same id.' })
  }
  if (step !== undefined && step.upto > session.tail) {
    throw new InvalidRequestError({ problem: 'A step cannot have seen entries to come.' })
  }
  if (session.turnState !== 'running' || session.turn !== request.turn) {
    return { outcome: { kind: 'turn-over', turn: session.turn } }
  }
  if (session.openCalls.length > 0) return { outcome: { kind: 'calls-open' } }

  const draft = new Draft(rows, session, request.operation, stamp)
  let entry = session.tail
  if (step !== undefined) {
    const { upto, renderer, calls, blobs = [] } = step
    const missing = draft.useBlobs(blobs)
    if (missing !== null) return { outcome: { kind: 'blob-missing', hash: missing } }
    const meta = { turn: request.turn, upto, renderer, calls, blobs }
    entry = draft.appendJson({ kind: 'assistant', meta }, step)
    const seen = entryNumber(Math.max(session.seen, upto))
    draft.set({ seen, openCalls: calls, attempts: 0, losses: 0 })
    draft.audit('step committed', { turn: request.turn, upto, entry, calls: calls.length })
  }
  if (ends !== undefined) {
    const turnEntry = endTurn(draft, ends.how, ends.reason)
    entry = step === undefined ? turnEntry : entry
    draft.send(ends.replies, entry)
  }
  const began = draft.session.turn !== session.turn
  return {
    outcome: {
      kind: 'committed',
      tail: tailOf(draft.session),
      written: draft.written,
      entry,
      nextTurn: began ? draft.session.turn : null,
    },
    change: {
      ...draft.change(),
      ...(attempt !== undefined && { attempts: newAttempts(rows, attempt) }),
    },
  }
}

/** The second commit of a step: the results of exactly the recorded calls. */
export const commitResults: Rule<'commitResults'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  const { openCalls } = session
  const named = new Set(request.results.map(({ call }) => call))
  const same =
    openCalls.length > 0 &&
    named.size === request.results.length &&
    named.size === openCalls.length &&
    openCalls.every((call) => named.has(call))
  if (!same) return { outcome: { kind: 'other-calls', openCalls } }

  const draft = new Draft(rows, session, request.operation, stamp)
  for (const { call, outcome, blobs = [], ...content } of request.results) {
    const missing = draft.useBlobs(blobs)
    if (missing !== null) return { outcome: { kind: 'blob-missing', hash: missing } }
    draft.appendJson({ kind: 'result', meta: { call, outcome, blobs } }, content)
  }
  draft.set({ openCalls: [] })
  draft.audit('results committed', { turn: session.turn, calls: request.results.length })
  const { session: after, written } = draft
  return { outcome: { kind: 'committed', tail: tailOf(after), written }, change: draft.change() }
}

const UNKNOWN_RESULT = canonicalJson('This call was issued; whether it took effect is unknown.')
/** The token count of the sentence above, at about four characters per token. */
const UNKNOWN_TOKENS = 16

/**
 * The first commit of a holder that acquires a session in mid-turn, once per acquisition (I28). It
 * closes open calls as unknown and gives up a turn that keeps failing or losing its process (decision
 * 14).
 */
export const recover: Rule<'recover'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  if (session.recovered === session.fence) return { outcome: { kind: 'already' } }

  const draft = new Draft(rows, session, request.operation, stamp)
  const running = session.turnState === 'running'
  const { attempts, losses } = session
  const failed = running && (attempts > request.attemptsMax || losses > request.lossesMax)
  const repeatable = new Set(failed ? [] : request.repeatable)
  for (const call of session.openCalls.filter((id) => !repeatable.has(id))) {
    const meta = { call, outcome: 'unknown', blobs: [] } as const
    draft.append({ kind: 'result', meta }, { body: UNKNOWN_RESULT, tokens: UNKNOWN_TOKENS })
  }
  const openCalls = session.openCalls.filter((id) => repeatable.has(id))
  draft.set({ recovered: session.fence, openCalls })
  if (failed) {
    draft.set({ seen: draft.session.tail })
    draft.send(request.failureReplies, endTurn(draft, 'failed', request.reason))
  }
  const turn = failed ? 'failed' : running ? 'resumed' : 'none'
  draft.audit('turn recovered', { fence: session.fence, turn, attempts, losses })
  return {
    outcome: {
      kind: 'recovered',
      tail: tailOf(draft.session),
      written: draft.written,
      turn,
      attempts,
      losses,
      openCalls,
    },
    change: draft.change(),
  }
}
