import { z } from 'zod'
import { entryNumber, type MailNumber, type SessionId } from '#core/base/ids'
import type { Admission, Mail, Session, SessionSummary } from '../../../runtime/runtime.ts'
import {
  findForkBefore,
  refusalReason,
  undoRefusalReason,
} from '../../../runtime/sessions/refusal-text.ts'
import { within } from '../../within.ts'
import { type Endpoint, endpoint, sessionAt } from '../endpoint.ts'
import { HttpProblem } from '../problems.ts'
import {
  accepted,
  answered,
  controlEnd,
  mailCursor,
  mailList,
  mailNumberText,
  newMessage,
  pageSize,
  pinList,
  pinName,
  pinText,
} from '../schemas.ts'
import { findSummary, ofSession } from './sessions.ts'

/** Messages, pins and stops for a session. Each is acknowledged once it is durable. */
const PAGE_MAX = 500
const PAGE = 100

export const ACCEPTED = { description: 'Accepted and durable', schema: accepted } as const
export const ADMISSION_PROBLEMS = [
  'unknown-session',
  'gone',
  'key-conflict',
  'mailbox-full',
  'too-large',
] as const

export const CONTROL_PROBLEMS = [...ADMISSION_PROBLEMS, 'turned-down'] as const

export const messageEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/v1/sessions/{id}/messages',
    summary: 'Send a message',
    scope: 'write',
    params: ofSession,
    query: z.strictObject({ wait: z.literal('reply').optional() }),
    body: newMessage,
    isIdempotent: true,
    answers: {
      200: { description: 'With `wait=reply`: the reply of its turn', schema: answered },
      202: ACCEPTED,
    },
    problems: ADMISSION_PROBLEMS,
    async run({ params, query, body, once, signal }, edge) {
      const session = sessionAt(edge, params)
      const message = { ...once, ...body }
      if (query.wait === undefined) return acceptedOf(await session.admit(message))
      const { admission, reply, isLate } = await within(
        edge.waitMsMax,
        signal,
        async (deadline) => {
          const asked = await session.ask(message, deadline)
          return { ...asked, isLate: deadline.aborted }
        },
      )
      const answer = acceptedOf(admission)
      // The time ran out, the client disconnected, or the server is closing. The message is durable,
      // and the reply will be in the transcript.
      if (reply === null && isLate) return answer
      return { status: 200, body: { ...answer.body, reply } }
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/sessions/{id}/stop',
    summary: 'End the running turn; a compaction continues',
    scope: 'write',
    params: ofSession,
    isIdempotent: true,
    answers: { 202: ACCEPTED },
    problems: ADMISSION_PROBLEMS,
    async run({ params, once }, edge) {
      return acceptedOf(await sessionAt(edge, params).stop(once))
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/sessions/{id}/continue',
    summary: 'Continue a turn that waits; at a spending limit, allow the same amount once more',
    scope: 'write',
    params: ofSession,
    isIdempotent: true,
    answers: { 202: ACCEPTED },
    problems: ADMISSION_PROBLEMS,
    async run({ params, once, principal }, edge) {
      const { state } = await findSummary(edge.runtime, params.id)
      const pastLimit = state === 'waiting-for-approval'
      // The operator set the limit, so permission to write is not enough to lift it.
      if (pastLimit && !principal.may('operate')) {
        throw new HttpProblem('forbidden', { facts: { scope: 'operate' } })
      }
      return acceptedOf(await sessionAt(edge, params).continue({ ...once, pastLimit }))
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/pins',
    summary: 'The pins of a session, with their texts and the entries that set them',
    scope: 'read',
    params: ofSession,
    answers: {
      200: { description: 'In the order in which the model reads them', schema: pinList },
    },
    problems: ['unknown-session'],
    async run({ params }, edge) {
      const pins = await sessionAt(edge, params).pins()
      if (pins === undefined) throw new HttpProblem('unknown-session')
      return { status: 200, body: { pins } }
    },
  }),
  endpoint({
    method: 'put',
    path: '/v1/sessions/{id}/pins/{name}',
    summary: 'Pin text that every context holds byte for byte',
    scope: 'write',
    params: ofSession.extend({ name: pinName }),
    body: z.strictObject({ text: pinText }),
    isIdempotent: true,
    answers: { 202: ACCEPTED },
    problems: CONTROL_PROBLEMS,
    async run({ params, body, once, signal }, edge) {
      const pin = { ...once, name: params.name, text: body.text }
      const session = sessionAt(edge, params)
      return await carriedOut(session, acceptedOf(await session.pin(pin)), signal)
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/sessions/{id}/pins/{name}',
    summary: 'Remove a pin',
    scope: 'write',
    params: ofSession.extend({ name: pinName }),
    isIdempotent: true,
    answers: { 202: ACCEPTED },
    problems: CONTROL_PROBLEMS,
    async run({ params, once, signal }, edge) {
      const pin = { ...once, name: params.name, text: null }
      const session = sessionAt(edge, params)
      return await carriedOut(session, acceptedOf(await session.pin(pin)), signal)
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/mailbox',
    summary: 'List messages sent to the session, with their state',
    scope: 'read',
    isLarge: true,
    params: ofSession,
    query: z.strictObject({
      state: z.enum(['pending', 'delivered', 'settled', 'withdrawn']).optional(),
      after: mailCursor.optional(),
      limit: pageSize(PAGE_MAX),
    }),
    answers: { 200: { description: 'A page; `next` continues it', schema: mailList } },
    problems: ['unknown-session'],
    async run({ params, query: { state, after, limit = PAGE } }, edge) {
      await findSummary(edge.runtime, params.id)
      const query = { ...(state !== undefined && { state }), limit }
      return { status: 200, body: await readMail(sessionAt(edge, params), query, after) }
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/sessions/{id}/mailbox/{number}',
    summary: 'Withdraw a message that still waits',
    scope: 'write',
    params: ofSession.extend({ number: mailNumberText }),
    answers: { 204: { description: 'Taken back' } },
    problems: ['unknown-mail', 'unknown-session', 'not-pending'],
    async run({ params }, edge) {
      const outcome = await sessionAt(edge, params).withdraw(params.number)
      if (outcome.kind === 'unknown') throw new HttpProblem('unknown-mail')
      if (outcome.kind === 'not-pending') {
        throw new HttpProblem('not-pending', { facts: { state: outcome.state } })
      }
      return { status: 204 }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/mailbox/{number}/outcome',
    summary: 'How a pin, a stop or another request to the session ended; waits for it',
    scope: 'read',
    params: ofSession.extend({ number: mailNumberText }),
    answers: {
      200: { description: 'Null: withdrawn, no such request, or not in time', schema: controlEnd },
    },
    problems: ['unknown-session'],
    async run({ params, signal }, edge) {
      const summary = await findSummary(edge.runtime, params.id)
      const session = sessionAt(edge, params)
      const outcome = await within(edge.waitMsMax, signal, (deadline) =>
        session.controlOutcome(params.number, deadline),
      )
      if (outcome?.kind !== 'turned-down') return { status: 200, body: { outcome, refusal: null } }
      const [mail] = await session.mailbox({ after: params.number - 1, limit: 1 })
      const reason =
        mail?.control === 'revert'
          ? await undoRefusal(session, outcome, summary)
          : refusalReason(outcome)
      return { status: 200, body: { outcome, refusal: sentence(reason) } }
    },
  }),
]

const READ_AT_ONCE = 50
/** Each message may have a megabyte. */
const PAGE_CHARACTERS_MAX = 16_000_000

/** A page ends at its limit, or once it has so many characters. */
async function readMail(
  session: Session,
  { limit, ...query }: Parameters<Session['mailbox']>[0],
  after: number | undefined,
): Promise<z.output<typeof mailList>> {
  const mail: Mail[] = []
  let [last, characters] = [after, 0]
  while (mail.length < limit && characters <= PAGE_CHARACTERS_MAX) {
    const asked = Math.min(READ_AT_ONCE, limit - mail.length)
    const more = await session.mailbox({
      ...{ ...query, limit: asked },
      ...(last !== undefined && { after: last }),
    })
    mail.push(...more)
    if (more.length < asked) return { mail, next: null }
    last = more.at(-1)?.number
    characters += more.reduce((sum, { text }) => sum + text.length, 0)
  }
  return { mail, next: last ?? null }
}

interface Accepted {
  readonly status: 202
  readonly body: {
    readonly sessionId: SessionId
    readonly mail: MailNumber
    readonly duplicate: boolean
  }
}

export function acceptedOf(admission: Admission): Accepted {
  switch (admission.kind) {
    case 'admitted':
    case 'duplicate': {
      const { kind, sessionId, mail } = admission
      return { status: 202, body: { sessionId, mail, duplicate: kind === 'duplicate' } }
    }
    case 'conflict':
      throw new HttpProblem('key-conflict')
    case 'full':
      throw new HttpProblem('mailbox-full', { facts: { limit: admission.limit } })
    case 'too-large': {
      const { bytes, limit } = admission
      throw new HttpProblem('too-large', { facts: { bytes, limit } })
    }
    case 'unknown-agent':
      throw new HttpProblem('unknown-agent', { facts: { agents: admission.agents } })
    case 'unknown':
      throw new HttpProblem('unknown-session')
    case 'gone':
      throw new HttpProblem('gone')
  }
}

type Refused = Parameters<typeof refusalReason>[0]

/** A running turn takes requests between two steps; the response does not wait that long. */
const CARRY_OUT_MS_MAX = 1_500

/**
 * The accepted request, unless it has been refused in the meantime. The event `control settled`
 * reports the outcome; its `refused` field says why.
 */
export async function carriedOut(
  session: Session,
  answer: Accepted,
  signal: AbortSignal,
  reasonOf: (end: Refused) => string | Promise<string> = refusalReason,
): Promise<Accepted> {
  const { mail } = answer.body
  const end = await within(CARRY_OUT_MS_MAX, signal, (deadline) =>
    session.controlOutcome(mail, deadline),
  )
  if (end?.kind !== 'turned-down') return answer
  const { kind: _, why, ...figures } = end
  const facts = { mail, why, ...figures }
  throw new HttpProblem('turned-down', { detail: sentence(await reasonOf(end)), facts })
}

function sentence(reason: string): string {
  return `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`
}

/** Why an undo was refused, and what helps. */
export async function undoRefusal(
  session: Session,
  end: Refused,
  summary: Pick<SessionSummary, 'compaction' | 'windowTokens'>,
): Promise<string> {
  const { compaction, windowTokens } = summary
  if (compaction === null) return refusalReason(end)
  const why = undoRefusalReason(end, { compaction, windowTokens })
  if (end.why !== 'no-room') return why
  const forkAt = await findForkBefore(session, entryNumber(compaction))
  return forkAt === null ? why : `${why}. ${forkHint(forkAt)}`
}

function forkHint(at: number): string {
  return (
    'The older messages are still stored. To continue with them word for word, begin a new session ' +
    `at #${at}: press "Go back to here" at that answer, or fork the session at entry ${at}`
  )
}
