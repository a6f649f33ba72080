import { type MailNumber, operationId, type SessionId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import { invalidOption } from '../base/option-checks.ts'
import { pinnedText } from '../message/handoff/pinned.ts'
import type { Message, UserMessage } from '../message/message.ts'
import { loadParts, type StagedParts, stageParts } from '../session/blobs.ts'
import { buildContext, messagesOf } from '../session/context/build.ts'
import type { EventHub } from '../session/events/event-hub.ts'
import { controlOutcome } from '../session/view/control-outcome.ts'
import { waitForReply } from '../session/view/transcript.ts'
import { ERASE_MAX } from '../store/bounds.ts'
import type { AdmitOutcome } from '../store/commits.ts'
import type { Store } from '../store/contract.ts'
import type { Limits } from '../store/tables/rows.ts'
import type {
  AgentAnswer,
  AgentSession,
  AskOptions,
  ControlResult,
  RefusedMessage,
  SentMessage,
} from './agent-types.ts'
import { eraseWhole, forkFrom } from './fork-session.ts'
import { readQuestion } from './read-reply.ts'
import { readTurn, recordTurn, stepsOf } from './record-turn.ts'
import { SessionReader } from './session-reader.ts'
import type { AnyFormat, MessageOf, RequestFor } from './typed-formats/format.ts'

/** The parts of an agent that a session handle needs. */
export interface HandleParts<F extends AnyFormat> {
  readonly store: Store
  readonly hub: EventHub
  readonly name: string
  readonly format: F
  readonly limits: Limits
  readonly request: (context: readonly Message[]) => RequestFor<F>
  readonly countMessage: (message: Message) => number
  readonly countTokens: (text: string) => number
  /** Aborted with the error `closed` when the agent closes. */
  readonly closing: AbortSignal
  readonly wake: (id: SessionId) => void
}

const NO_SESSION: ControlResult = { kind: 'nothing-to-do', why: 'There is no such session.' }

export function openSession<F extends AnyFormat>(
  parts: HandleParts<F>,
  id: SessionId,
): AgentSession<F> {
  const { store, name, closing } = parts
  const reader = new SessionReader<F>(parts, id)

  const send = async (
    message: string | MessageOf<F>,
    { key = crypto.randomUUID() }: { readonly key?: string } = {},
  ): Promise<SentMessage> => {
    closing.throwIfAborted()
    const question = readQuestion(parts.format, message)
    const refused = await claimSession(parts, id)
    if (refused !== null) return refused
    const staged = await stageParts(store, id, question)
    if (staged.kind !== 'staged') return notStaged(staged)
    const body: UserMessage = { role: 'user', parts: staged.parts }
    const outcome = await store.admit({
      ...{ to: { sessionId: id }, source: name, key, lane: 'user', blobs: staged.hashes },
      body: { message: body as unknown as JsonValue },
      tokens: parts.countMessage({ role: 'user', parts: question }),
    })
    parts.wake(id)
    return sentOf(outcome, id)
  }

  const answer = async (
    { mail }: { readonly mail: number },
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<AgentAnswer<F>> => {
    const ended = signal === undefined ? closing : AbortSignal.any([signal, closing])
    ended.throwIfAborted()
    const reply = await waitForReply(parts, { sessionId: id, mail: mail as MailNumber }, ended)
    if (reply === null) {
      ended.throwIfAborted()
      const session = await store.findSession(id)
      if (session === undefined || mail > session.mail) {
        throw invalidOption('mail', `The session "${id}" has no message ${mail}.`)
      }
      return { kind: 'withdrawn' }
    }
    const { turn, ended: how, text, reason } = reply
    const outcome = { turn, mail, isDuplicate: false }
    if (how === 'failed') {
      return { kind: how, reason: reason ?? text, text: '', messages: [], ...outcome }
    }
    return { kind: how, text, messages: await reader.turnMessages(turn, reply.entry), ...outcome }
  }

  const control = async (
    word: string,
    { key = crypto.randomUUID(), signal }: AskOptions = {},
    body: JsonObject = {},
    tokens = 0,
  ): Promise<ControlResult> => {
    const ended = signal === undefined ? closing : AbortSignal.any([signal, closing])
    ended.throwIfAborted()
    const outcome = await store.admit({
      ...{ to: { sessionId: id }, source: name, key, lane: 'control', control: word, body, tokens },
    })
    if (outcome.kind === 'unknown') return NO_SESSION
    const sent = sentOf(outcome, id)
    if (sent.kind === 'refused') return sent
    parts.wake(id)
    const end = await controlOutcome(parts, { sessionId: id, mail: sent.mail as MailNumber }, ended)
    if (end === null) ended.throwIfAborted()
    return end?.kind === 'turned-down' ? { kind: 'nothing-to-do', why: end.why } : { kind: 'done' }
  }

  return {
    id,
    send,
    answer,
    async ask(message, options = {}) {
      options.signal?.throwIfAborted()
      const sent = await send(message, options.key === undefined ? {} : { key: options.key })
      if (sent.kind === 'refused') return sent
      const found = await answer(sent, options)
      return 'isDuplicate' in found ? { ...found, isDuplicate: sent.isDuplicate } : found
    },
    async record({ key, input, made }) {
      closing.throwIfAborted()
      const question = readQuestion(parts.format, input)
      const messages = readTurn(parts.format, made)
      const refused = await claimSession(parts, id)
      if (refused !== null) return refused
      const staged = await stageParts(store, id, question)
      if (staged.kind !== 'staged') return notStaged(staged)
      const asked = { parts: staged.parts, blobs: staged.hashes }
      const steps = stepsOf(asked, messages, parts.countMessage)
      const recorded = await recordTurn(store, {
        ...{ sessionId: id, source: `${name}/record`, key, steps },
      })
      parts.wake(id)
      return recorded
    },
    history: (query) => reader.history(query),
    search: (text, query) => reader.search(text, query),
    info: () => reader.info(),
    events: (query) => reader.events(query),
    compactionReport: (query) => reader.compactionReport(query),
    async context() {
      const source = await store.readContext({ sessionId: id })
      if (source === null) return parts.request([])
      const { session, limits } = source
      const messages = messagesOf(buildContext(source, limits, session.tail))
      return parts.request(await loadParts(store, id, messages))
    },
    stop: (options) => control('stop', options),
    compact: ({ focus, ...options } = {}) =>
      control('compact', options, focus === undefined ? {} : { focus }),
    undo: (options) => control('revert', options),
    async pin(pinName, text, options) {
      const tokens = text === null ? 0 : parts.countTokens(pinnedText(pinName, text))
      return await control(
        'pin',
        options,
        { name: pinName, ...(text !== null && { text }) },
        tokens,
      )
    },
    async fork(options = {}) {
      closing.throwIfAborted()
      const outcome = await forkFrom(store, id, { source: name, ...options })
      if (outcome.kind === 'refused') return outcome
      return { ...outcome, session: openSession(parts, outcome.id) }
    },
    async erase({ entries, reason, forks }) {
      if (entries === 'all') {
        if ((await store.findSession(id)) === undefined) return NO_SESSION
        return await eraseWhole(store, id, { reason, ...(forks !== undefined && { forks }) })
      }
      let done: ControlResult = { kind: 'nothing-to-do', why: 'No entries were named.' }
      for (let from = 0; from < entries.length; from += ERASE_MAX) {
        const body = { entries: entries.slice(from, from + ERASE_MAX), reason }
        done = await control('erase', {}, body)
        if (done.kind !== 'done') return done
      }
      return done
    },
  }
}

/** Creates the session if it does not exist; a session of another agent is refused. */
async function claimSession<F extends AnyFormat>(
  { store, name, limits }: HandleParts<F>,
  id: SessionId,
): Promise<RefusedMessage | null> {
  const known = await store.findSession(id)
  if (known === undefined) {
    const operation = operationId(crypto.randomUUID())
    await store.createSession({ id, agent: name, limits, policy: 'queue', operation })
  }
  const session = known ?? (await store.findSession(id))
  if (session?.agent !== name) return { kind: 'refused', why: 'belongs-to-another-agent' }
  return session.state === 'open' ? null : { kind: 'refused', why: 'session-deleted' }
}

function notStaged(staged: Exclude<StagedParts, { kind: 'staged' }>): RefusedMessage {
  if (staged.kind !== 'too-large') return { kind: 'refused', why: 'session-deleted' }
  return { kind: 'refused', why: 'too-large', limit: staged.limit }
}

function sentOf(outcome: AdmitOutcome, id: SessionId): SentMessage {
  switch (outcome.kind) {
    case 'admitted':
      return { kind: 'sent', mail: outcome.mail, isDuplicate: false }
    case 'duplicate':
      if (outcome.sessionId !== id) return { kind: 'refused', why: 'key-reused' }
      return { kind: 'sent', mail: outcome.mail, isDuplicate: true }
    case 'conflict':
      return { kind: 'refused', why: 'key-reused' }
    case 'full':
      return { kind: 'refused', why: 'mailbox-full', limit: outcome.limit }
    case 'too-large':
      return { kind: 'refused', why: 'too-large', limit: outcome.limit }
    default:
      return { kind: 'refused', why: 'session-deleted' }
  }
}
