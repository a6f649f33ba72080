import { z } from 'zod'
import { isId, type SessionId, sessionId } from '../../base/ids.ts'
import type { Commits, Reads } from '../../store/contract.ts'
import type { Route, SessionRow } from '../../store/rows.ts'
import { defineTool, ok, type ParsedCall, refuse } from '../define-tool.ts'
import { oneByOne } from '../one-by-one.ts'
import { answerTo, type Counting, noticeBody } from '../own-mail.ts'
import type { Tool, ToolAnswer, ToolCall } from '../tool.ts'
import { heldId, holding, isFrom, readHeld } from './held.ts'
import { judgeLoop, LOOP_RULE, type LoopRule, type Sign } from './loop.ts'
import { type From, readSigns, SEND_MESSAGE } from './signs.ts'

const name = z.string().min(1).max(200)

const input = z.strictObject({
  session: name.optional().describe('The id of the session to write to; answers go this way.'),
  agent: name.optional().describe('Or: the agent, with channel and address of the conversation.'),
  channel: name.optional(),
  address: name.optional(),
  text: z.string().min(1).max(100_000),
})

export interface SendMessageParts extends Counting {
  readonly store: Pick<
    Commits & Reads,
    'admit' | 'putSchedule' | 'findSession' | 'listMail' | 'readEntries' | 'listSchedules'
  >
  /** The session that a route points to; the runtime makes one where there is none. */
  readonly openRoute: (route: Route) => Promise<SessionId | undefined>
  readonly rule?: LoopRule
  /** A session got mail. */
  readonly onAdmitted?: (sessionId: SessionId) => void
}

/** Words from one agent's session to another's, exactly once: the call's key is the message's. */
export function sendMessageTool(parts: SendMessageParts): Tool {
  // Each sees those before it: said all at once they are a row as well, and arrive in their order.
  const afterOthers = oneByOne()
  return defineTool({
    name: SEND_MESSAGE,
    description:
      "Send a message into another agent's session. It does not wait for an answer; one may come " +
      'later as a notification. Do not send mere thanks or acknowledgements.',
    input,
    isRepeatable: true,
    run: (call) => afterOthers(() => deliver(parts, call)),
  })
}

type Target =
  | { readonly kind: 'session'; readonly sessionId: SessionId }
  | { readonly kind: 'none'; readonly problem: string }

async function findTarget(
  { openRoute }: SendMessageParts,
  { session, agent, channel, address }: z.output<typeof input>,
): Promise<Target> {
  if (session !== undefined) {
    return isId(session)
      ? { kind: 'session', sessionId: sessionId(session) }
      : { kind: 'none', problem: `There is no session ${session}.` }
  }
  if (agent === undefined || channel === undefined || address === undefined) {
    const problem = 'Say whom: either `session`, or `agent` with `channel` and `address`.'
    return { kind: 'none', problem }
  }
  const found = await openRoute({ agent, channel, address })
  if (found !== undefined) return { kind: 'session', sessionId: found }
  const problem = `There is no conversation ${channel} ${address} of an agent ${agent}.`
  return { kind: 'none', problem }
}

async function deliver(
  parts: SendMessageParts,
  call: ParsedCall<typeof input>,
): Promise<ToolAnswer> {
  const { store } = parts
  const target = await findTarget(parts, call.input)
  if (target.kind === 'none') return refuse(target.problem)
  const to = target.sessionId
  const [receiver, sender] = await Promise.all([
    store.findSession(to),
    store.findSession(call.sessionId),
  ])
  if (receiver === undefined || sender === undefined) return refuse(`There is no session ${to}.`)
  if (receiver.id === sender.id) return refuse('That is this session itself.')
  return await send(parts, call, { receiver, sender, text: call.input.text })
}

interface Letter {
  readonly receiver: SessionRow
  readonly sender: SessionRow
  readonly text: string
}

async function send(
  parts: SendMessageParts,
  call: Omit<ToolCall, 'input'>,
  { receiver, sender, text }: Letter,
): Promise<ToolAnswer> {
  const { store, countTokens, rule = LOOP_RULE } = parts
  const tokens = countTokens(receiver.id, text)
  const from: From = { agent: call.agent, sessionId: sender.id, tokens }
  const source = `agent:${call.agent}`
  const [there, here, held, heldHere] = await Promise.all([
    readSigns(store, receiver, sender.id),
    readSigns(store, sender, receiver.id),
    readHeld(store, receiver.id),
    readHeld(store, sender.id),
  ])
  // A repetition finds what the first time did, and does nothing else.
  if (held.some(({ id }) => id === heldId(call))) return ok(KEPT)
  const wasSent = there.mail.some((mail) => mail.source === source && mail.key === call.key)
  // Either direction: both are told with the first one that is held.
  const kept = [
    ...held.filter((row) => isFrom(row, sender.id)),
    ...heldHere.filter((row) => isFrom(row, receiver.id)),
  ]
  const heldSigns = kept.map(({ at }): Sign => ({ at, kind: 'held' }))
  const verdict = judgeLoop([...there.signs, ...here.signs, ...heldSigns], { tokens }, rule)
  if (verdict.kind === 'send' || wasSent) {
    const body = bodyOf(from, text)
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
  const body = bodyOf(from, verdict.isFirst ? `${text}\n\n${toldReceiver(verdict)}` : text)
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
      return ok(verdict.isFirst ? `${KEPT} ${toldSender(verdict)}` : KEPT)
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

function bodyOf(from: From, text: string) {
  const { agent, sessionId, tokens } = from
  const words = `Message from the agent ${agent} (session ${sessionId}):\n${text}`
  return noticeBody(words, { from: { agent, sessionId, tokens } })
}

const KEPT = 'Kept: it is read when something else arrives there.'

function toldSender({ messages }: { readonly messages: number }): string {
  return (
    `The last ${messages} messages between you two were all short and nothing else happened in ` +
    'between, so further ones of that kind wake nobody. A message with something to say does.'
  )
}

function toldReceiver({ messages }: { readonly messages: number }): string {
  return (
    `[This was kept without waking you: the last ${messages} messages between you two were all ` +
    'short and nothing else happened in between. Further ones of that kind are kept the same way.]'
  )
}
