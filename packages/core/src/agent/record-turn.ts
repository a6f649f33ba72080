import { type EntryNumber, operationId, type SessionId } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import type { Message, UserPart } from '../message/message.ts'
import { callsOf } from '../session/step.ts'
import type { Store } from '../store/contract.ts'
import type { RecordedStep, RecordOutcome } from '../store/record-commits.ts'
import type { RecordedTurn } from './agent-types.ts'
import { parse } from './read-reply.ts'
import { type Format, internalsOf } from './typed-formats/format.ts'

type Count = (message: Message) => number

/** The assistant and tool messages of a turn that a framework ran. */
export function readTurn(format: Format, made: unknown): readonly Message[] {
  const internals = internalsOf(format)
  const isWhole = typeof made === 'object' && made !== null && !Array.isArray(made)
  const items = isWhole ? internals.itemsOf(made) : made
  const messages = Array.isArray(items) ? parse(internals, items, '"made"', 'made') : []
  const other = messages.find(({ role }) => role !== 'assistant' && role !== 'tool')
  if (other === undefined && messages[0]?.role === 'assistant') return messages
  throw new ThroughlineError(
    'invalid-message',
    `"made" holds ${other === undefined ? 'no assistant message at its start' : `a ${other.role} message`}. ` +
      `Give what the model and the tools added, in the format ${format.name}: assistant, tool, assistant.`,
    { at: 'made' },
  )
}

/** One entry per message, and one per result of a tool. */
export function stepsOf(
  input: { readonly parts: readonly UserPart[]; readonly blobs: readonly string[] },
  made: readonly Message[],
  count: Count,
): readonly RecordedStep[] {
  const question: Message = { role: 'user', parts: input.parts }
  return [
    {
      kind: 'input',
      body: json({ message: question }),
      tokens: count(question),
      blobs: input.blobs,
    },
    ...made.flatMap((message) => stepsIn(message, count)),
  ]
}

function stepsIn(message: Message, count: Count): readonly RecordedStep[] {
  if (message.role === 'assistant') {
    const calls = [...new Set(callsOf(message).map(({ id }) => id))]
    return [{ kind: 'assistant', calls, body: json(message), tokens: count(message) }]
  }
  if (message.role !== 'tool') return []
  return message.parts.map((part) => ({
    kind: 'result',
    call: part.callId,
    outcome: part.isError === true ? 'error' : 'ok',
    body: json(part.output),
    tokens: count({ ...message, parts: [part] }),
  }))
}

function json(value: unknown): JsonValue {
  return value as JsonValue
}

/** Commits the turn. Recorded before under this key, it is the turn that it was then. */
export async function recordTurn(
  store: Store,
  turn: { sessionId: SessionId; source: string; key: string; steps: readonly RecordedStep[] },
): Promise<RecordedTurn> {
  const { steps, ...under } = turn
  const operation = operationId(crypto.randomUUID())
  const what = { kind: 'turn', steps } as const
  const outcome = await store.recordEntries({ ...under, operation, what })
  if (outcome.kind === 'recorded' || outcome.kind === 'duplicate') {
    const number = await turnAt(store, under.sessionId, outcome.entry)
    return { kind: 'recorded', turn: number, isDuplicate: outcome.kind === 'duplicate' }
  }
  return refusalOf(outcome)
}

async function turnAt(store: Store, sessionId: SessionId, entry: EntryNumber): Promise<number> {
  const [found] = await store.readEntries({ sessionId, from: entry, to: entry })
  return found?.kind === 'turn' ? found.meta.turn : 0
}

function refusalOf(outcome: RecordOutcome): RecordedTurn {
  switch (outcome.kind) {
    case 'in-use':
      return { kind: 'refused', why: 'turn-running' }
    case 'conflict':
      return { kind: 'refused', why: 'key-reused' }
    case 'too-large':
      return { kind: 'refused', why: 'too-large', limit: outcome.limit }
    default:
      return { kind: 'refused', why: 'session-deleted' }
  }
}
