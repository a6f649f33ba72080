import { z } from 'zod'
import { isId, type SessionId, sessionId } from '#core/base/ids'
import { indentLines } from '#core/base/line'
import type { Commits, Reads } from '#core/store/contract'
import type { Route, SessionRow } from '#core/store/tables/rows'
import { defineTool, ok, type ParsedCall, refuse } from '../define-tool.ts'
import { answerTo, type Counting, noticeBody } from '../own-mail.ts'
import { serializeCalls } from '../serialize-calls.ts'
import type { Tool, ToolAnswer, ToolCall } from '../tool.ts'
import {
  type Destinations,
  mayWrite,
  reachOf,
  readDestinations,
  unreachableText,
} from './destinations.ts'
import { heldId, holding, isFrom, readHeld } from './held.ts'
import { judgeLoop, LOOP_RULE, type LoopRule, type Sign } from './loop.ts'
import {
  type From,
  fromOf,
  parseMailBody,
  readRecentEvents,
  SEND_MESSAGE,
  type Signs,
} from './recent-events.ts'

const name = z.string().min(1).max(200)

const input = z.strictObject({
  session: name.optional().describe('The id of the session to write to; answers go this way.'),
  agent: name
    .optional()
    .describe('Or: the agent to ask; with channel and address, its session there.'),
  channel: name.optional(),
  address: name.optional(),
  text: z.string().min(1).max(100_000),
})

export interface SendMessageParts extends Counting {
  readonly store: Pick<
    Commits & Reads,
    | 'admit'
    | 'putSchedule'
    | 'findSession'
    | 'findRoute'
    | 'listMail'
    | 'readEntries'
    | 'listSchedules'
  >
  /** The session of a route; the runtime creates one in the scope if there is none. */
  readonly openRoute: (route: Route, scope?: string) => Promise<SessionId | undefined>
  /** Beyond sessions of the same scope and those that wrote here; as the operator lists them. */
  readonly to?: readonly string[]
  readonly rule?: LoopRule
  /** A session received mail. */
  readonly onAdmitted?: (sessionId: SessionId) => void
}

/**
 * Sends a message from one agent's session to another's, exactly once: the message uses the call's
 * key.
 */
export function sendMessageTool(parts: SendMessageParts): Tool {
  const to = readDestinations(parts.to ?? [])
  // One at a time, so that concurrent messages also count as a row and arrive in order.
  const afterOthers = serializeCalls()
  return defineTool({
    name: SEND_MESSAGE,
    description:
      "Send a message into another agent's session. It does not wait for an answer; one may come " +
      'later as a notification. Do not send mere thanks or acknowledgements. ' +
      reachOf(to),
    input,
    isRepeatable: true,
    run: (call) => afterOthers(() => deliver(parts, to, call)),
  })
}

/** Sessions that answer for another agent have routes of this channel, one per scope. */
const CHANNEL = 'agent'

/** Finds the session; whether it may be written to is checked after it was read. */
async function findTarget(
  { openRoute, store }: SendMessageParts,
  to: Destinations,
  { scope }: SessionRow,
  { session, agent, channel, address }: z.output<typeof input>,
): Promise<SessionId | undefined> {
  if (session !== undefined) return isId(session) ? sessionId(session) : undefined
  if (agent === undefined) return undefined
  if (channel !== undefined && address !== undefined) {
    const route = { agent, channel, address }
    return to.isOpen ? await openRoute(route) : (await store.findRoute(route))?.sessionId
  }
  if (!to.isOpen && !to.agents.has(agent)) return undefined
  return await openRoute({ agent, channel: CHANNEL, address: scope }, scope)
}

async function deliver(
  parts: SendMessageParts,
  to: Destinations,
  call: ParsedCall<typeof input>,
): Promise<ToolAnswer> {
  const { store } = parts
  const { session, agent, channel, address, text } = call.input
  const isRoute = agent !== undefined && (channel === undefined) === (address === undefined)
  if (session === undefined && !isRoute) {
    return refuse(
      'Name a destination: `session`, or `agent`, alone or with `channel` and `address`.',
    )
  }
  const sender = await store.findSession(call.sessionId)
  if (sender === undefined) return refuse('This session was deleted.')
  const id = await findTarget(parts, to, sender, call.input)
  if (id === sender.id) return refuse('That is this session itself.')
  const receiver = id === undefined ? undefined : await store.findSession(id)
  if (receiver === undefined) return refuse(unreachableText(to))
  const here = await readRecentEvents(store, sender, receiver.id)
  const isAnswer = here.mail.some(
    ({ body }) => fromOf(parseMailBody(body))?.sessionId === receiver.id,
  )
  if (!mayWrite(sender, receiver, { to, isAnswer })) return refuse(unreachableText(to))
  return await send(parts, call, { receiver, sender, text, here })
}

interface Letter {
  readonly receiver: SessionRow
  readonly sender: SessionRow
  readonly text: string
  /** The recent events in the sender's session. */
  readonly here: Signs
}

async function send(
  parts: SendMessageParts,
  call: Omit<ToolCall, 'input'>,
  { receiver, sender, text, here }: Letter,
): Promise<ToolAnswer> {
  const { store, countTokens, rule = LOOP_RULE } = parts
  const tokens = countTokens(receiver.id, text)
  const from: From = { agent: call.agent, sessionId: sender.id, tokens }
  const source = `agent:${call.agent}`
  const [there, held, heldHere] = await Promise.all([
    readRecentEvents(store, receiver, sender.id),
    readHeld(store, receiver.id),
    readHeld(store, sender.id),
  ])
  // A repeated call finds the result of the first one and does nothing else.
  if (held.some(({ id }) => id === heldId(call))) return ok(KEPT)
  const wasSent = there.mail.some((mail) => mail.source === source && mail.key === call.key)
  // In either direction: both are notified with the first held message.
  const kept = [
    ...held.filter((row) => isFrom(row, sender.id)),
    ...heldHere.filter((row) => isFrom(row, receiver.id)),
  ]
  const heldSigns = kept.map(({ at }): Sign => ({ at, kind: 'held' }))
  const verdict = judgeLoop([...there.signs, ...here.signs, ...heldSigns], { tokens }, rule)
  if (verdict.kind === 'send' || wasSent) {
    const body = letterOf(from, text)
    const outcome = await store.admit({
      to: { sessionId: receiver.id },
      source,
      key: call.key,
      lane: 'notification',
      body,
      tokens: countTokens(receiver.id, JSON.stringify(body)),
    })
    if (outcome.kind === 'admitted') parts.onAdmitted?.(receiver.id)
    return answerTo(outcome, `Sent to ${receiver.agent}, session ${receiver.id}.`)
  }
  const body = letterOf(from, text, verdict.isFirst ? `\n\n${receiverText(verdict)}` : '')
  const outcome = await store.putSchedule({
    id: heldId(call),
    sessionId: receiver.id,
    ...holding(receiver.mail, held),
    body,
    tokens: countTokens(receiver.id, JSON.stringify(body)),
  })
  switch (outcome.kind) {
    case 'scheduled':
    case 'passed':
      return ok(verdict.isFirst ? `${KEPT} ${senderText(verdict)}` : KEPT)
    case 'full':
    case 'too-large':
      return refuse(`Not sent: the session ${receiver.id} takes no more for now.`)
    case 'taken':
    case 'unknown':
    case 'gone':
      return refuse(`There is no session ${receiver.id}.`)
    default:
      return outcome satisfies never
  }
}

function letterOf(from: From, text: string, note = '') {
  const { agent, sessionId, tokens } = from
  const words = `Message from the agent ${agent} (session ${sessionId}):\n${indentLines(text)}`
  return noticeBody(words + note, { from: { agent, sessionId, tokens } })
}

const KEPT = 'Kept: it is read when something else arrives there.'

function senderText({ messages }: { readonly messages: number }): string {
  return (
    `The last ${messages} messages between you two were all short and nothing else happened in ` +
    'between, so further ones of that kind wake nobody. A message with something to say does.'
  )
}

function receiverText({ messages }: { readonly messages: number }): string {
  return (
    `[This was kept without waking you: the last ${messages} messages between you two were all ` +
    'short and nothing else happened in between. Further ones of that kind are kept the same way.]'
  )
}
