import { clip } from '../base/line.ts'
import type {
  AssistantMessage,
  Message,
  ToolCallPart,
  ToolResultPart,
  UserMessage,
  UserPart,
} from './message.ts'
import { isSame, withParts } from './same.ts'

/**
 * Pairs tool calls with their results.
 *
 * Well paired means: a run of assistant messages (a reply may be several) is followed by tool
 * messages with exactly one result for each of the run's calls, and ids are unique and not empty.
 * Files from crashed agents, cuts and converters often are not; `repairPairs` fixes them and loses
 * nothing: a result without a call is kept as a readable note.
 */
export interface Repair {
  readonly kind: RepairKind
  /** The index of the message in the given list. */
  readonly at: number
  /** One sentence for people. */
  readonly explanation: string
}

export type RepairKind =
  | 'orphan-result'
  | 'duplicate-result'
  | 'late-result'
  | 'unanswered-call'
  | 'duplicate-call-id'
  | 'empty-call-id'

export interface OpenCall {
  readonly at: number
  readonly call: ToolCallPart
}

/** The calls that have no result, in order. */
export function openCalls(messages: readonly Message[]): readonly OpenCall[] {
  const open = pairUp(messages).pairs.filter((pair) => pair.answer === undefined)
  return open.map(({ at, call }) => ({ at, call }))
}

/** Returns the same array if the messages are already well paired. */
export function repairPairs(messages: readonly Message[]): {
  readonly messages: readonly Message[]
  readonly repairs: readonly Repair[]
} {
  const { pairs, results } = pairUp(messages)
  const repairs = [...pairs.flatMap(repairsOfCall), ...results.flatMap(repairsOfResult)]
  if (repairs.length === 0) return { messages, repairs }

  const moved = positionResults(pairs)
  const repaired: Message[] = []
  let notes: Message[] = []
  let nextPair = 0
  let nextResult = 0
  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant') {
      repaired.push(renameCalls(message, () => pairs[nextPair++]?.id ?? ''))
    } else if (message.role === 'tool') {
      const here = results.slice(nextResult, nextResult + message.parts.length)
      nextResult += here.length
      const parts = here.flatMap(({ part, pair, fate }) =>
        fate === 'in-place' && pair !== undefined ? [withCallId(part, pair.id)] : [],
      )
      if (isSame(parts, message.parts)) repaired.push(message)
      else if (parts.length > 0) repaired.push({ ...message, parts })
      for (const { part, fate } of here) {
        if (fate === 'orphan' || fate === 'duplicate') notes.push(noteOf(part, fate))
      }
    } else repaired.push(message)

    const late = moved.get(at)
    if (late !== undefined) repaired.push({ role: 'tool', parts: late })
    // Notes wait until after the tool messages: between two results they would separate the second
    // one from its call.
    if (messages[at + 1]?.role !== 'tool') {
      for (const note of notes) repaired.push(note)
      notes = []
    }
  }
  return { messages: repaired, repairs: repairs.toSorted((a, b) => a.at - b.at) }
}

/**
 * Makes unique, non-empty names, in the order of the requests: a longer conversation never renames
 * what a shorter one named, so cached prefixes stay valid.
 */
export function uniqueNames(lengthMax = Number.POSITIVE_INFINITY): (wanted: string) => string {
  const used = new Set<string>()
  const nextNumbers = new Map<string, number>()
  return (wanted) => {
    const base = (wanted === '' ? 'call' : wanted).slice(0, lengthMax)
    // Leaves room for an underscore and seven digits within the length allowed.
    const stem = base.slice(0, lengthMax - 8)
    let name = base
    let number = nextNumbers.get(stem) ?? 2
    while (used.has(name)) name = `${stem}_${number++}`
    nextNumbers.set(stem, number)
    used.add(name)
    return name
  }
}

/** A run of assistant messages and the tool messages directly after it. */
interface Step {
  repliesEnd: number
  end: number
  /** Whether any of its calls has its result in these tool messages. */
  answered: boolean
}

interface Pair {
  readonly call: ToolCallPart
  readonly at: number
  readonly step: Step
  /** The call's id, made unique. */
  readonly id: string
  answer?: Result
}

interface Result {
  readonly part: ToolResultPart
  readonly at: number
  readonly pair?: Pair
  readonly fate: 'in-place' | 'late' | 'orphan' | 'duplicate'
}

/**
 * All calls and all results, each in order. A result belongs to the newest step with an open call
 * of that id, and within a step to the first such call: restarted agents reuse ids, and agents that
 * call in parallel answer in order.
 */
function pairUp(messages: readonly Message[]): {
  readonly pairs: Pair[]
  readonly results: Result[]
} {
  const pairs: Pair[] = []
  const results: Result[] = []
  const uniqueName = uniqueNames()
  const waitingById = new Map<string, { step: Step; pairs: Pair[]; next: number }[]>()
  let step: Step = { repliesEnd: -1, end: -1, answered: false }

  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant') {
      if (step.repliesEnd !== at || step.end !== at)
        step = { repliesEnd: at, end: at, answered: false }
      step.repliesEnd = step.end = at + 1
      for (const call of message.parts) {
        if (call.type !== 'tool-call') continue
        const pair: Pair = { call, at, step, id: uniqueName(call.id) }
        pairs.push(pair)
        const waiting = waitingById.get(call.id) ?? []
        waitingById.set(call.id, waiting)
        const newest = waiting.at(-1)
        if (newest?.step === step) newest.pairs.push(pair)
        else waiting.push({ step, pairs: [pair], next: 0 })
      }
    } else if (message.role === 'tool') {
      if (step.end === at) step.end = at + 1
      for (const part of message.parts) {
        const waiting = waitingById.get(part.callId)
        const newest = waiting?.at(-1)
        const pair = newest?.pairs[newest.next++]
        if (newest !== undefined && newest.next === newest.pairs.length) waiting?.pop()
        if (pair === undefined) {
          results.push({ part, at, fate: waiting === undefined ? 'orphan' : 'duplicate' })
          continue
        }
        const inPlace = pair.step === step && step.end === at + 1
        if (inPlace) step.answered = true
        pair.answer = { part, at, pair, fate: inPlace ? 'in-place' : 'late' }
        results.push(pair.answer)
      }
    }
  }
  return { pairs, results }
}

/** Results to insert, by the message they follow: late ones, and placeholders for missing ones. */
function positionResults(pairs: readonly Pair[]): Map<number, ToolResultPart[]> {
  const moved = new Map<number, ToolResultPart[]>()
  for (const { call, at, step, id, answer } of pairs) {
    if (answer?.fate === 'in-place') continue
    // Next to the step's other results if it has any; otherwise directly after the call.
    const behind = step.answered ? step.end - 1 : at
    const results = moved.get(behind) ?? []
    results.push(answer === undefined ? missingResult(call, id) : withCallId(answer.part, id))
    moved.set(behind, results)
  }
  return moved
}

function repairsOfCall({ call, at, id, answer }: Pair): Repair[] {
  const repairs: Repair[] = []
  if (id !== call.id) {
    repairs.push(
      call.id === ''
        ? {
            kind: 'empty-call-id',
            at,
            explanation: `A call of ${quote(call.name)} had no id and got ${quote(id)}.`,
          }
        : {
            kind: 'duplicate-call-id',
            at,
            explanation: `The call id ${quote(call.id)} was used before; this call and its result are now ${quote(id)}.`,
          },
    )
  }
  if (answer === undefined) {
    repairs.push({
      kind: 'unanswered-call',
      at,
      explanation: `The call ${quote(id)} of ${quote(call.name)} has no result; one that says so was put behind it.`,
    })
  }
  return repairs
}

function repairsOfResult({ part, at, fate }: Result): Repair[] {
  const id = quote(part.callId)
  switch (fate) {
    case 'in-place':
      return []
    case 'late':
      return [
        {
          kind: 'late-result',
          at,
          explanation: `The result of call ${id} was moved directly behind its call.`,
        },
      ]
    case 'orphan':
      return [
        {
          kind: 'orphan-result',
          at,
          explanation: `No call ${id} precedes this result; it was kept as a note in the user role.`,
        },
      ]
    case 'duplicate':
      return [
        {
          kind: 'duplicate-result',
          at,
          explanation: `The call ${id} already has a result; this one was kept as a note in the user's place.`,
        },
      ]
  }
}

function renameCalls(message: AssistantMessage, nextId: () => string): AssistantMessage {
  const parts = message.parts.map((part) => {
    if (part.type !== 'tool-call') return part
    const id = nextId()
    return part.id === id ? part : { ...part, id }
  })
  return withParts(message, parts)
}

function withCallId(part: ToolResultPart, callId: string): ToolResultPart {
  return part.callId === callId ? part : { ...part, callId }
}

/** Marked as an error, so that the model neither assumes success nor blindly repeats the call. */
function missingResult(call: ToolCallPart, callId: string): ToolResultPart {
  const text = 'No result was recorded for this call: it may or may not have run.'
  return {
    type: 'tool-result',
    callId,
    name: call.name,
    output: [{ type: 'text', text }],
    isError: true,
  }
}

function noteOf(result: ToolResultPart, fate: 'orphan' | 'duplicate'): UserMessage {
  const tool =
    result.name === undefined || result.name === '' ? 'a tool' : `the tool ${quote(result.name)}`
  const why =
    fate === 'orphan'
      ? 'whose call is no longer part of this conversation'
      : 'recorded in addition to the result that its call already has'
  const parts = result.output.map(
    (part): UserPart =>
      part.type === 'opaque' ? { type: 'text', text: JSON.stringify(part.value) } : part,
  )
  const text = `[Output of ${tool}, ${why}. It is not a request.]`
  return { role: 'user', parts: [{ type: 'text', text }, ...parts], synthetic: true }
}

/** Clips long ids and names, since an explanation is one line. */
function quote(text: string): string {
  return `"${clip(text, 61)}"`
}

/**
 * Where a well paired conversation may be cut. A cut at `index` puts the messages before it into
 * the head. It is clean if no call in the head has its result in the tail, and if no reply is
 * separated from the reasoning or provider item in the message directly before it.
 *
 * Returns the nearest clean cut at or before `index`. It reads only the step around the cut, so the
 * cost does not grow with the conversation.
 */
export function alignBack(messages: readonly Message[], index: number): number {
  if (index <= 0) return 0
  if (index >= messages.length) return messages.length
  return cleanCuts(messages, index)?.findLast((cut) => cut <= index) ?? index
}

/** The nearest clean cut at or after `index`. */
export function alignForward(messages: readonly Message[], index: number): number {
  if (index <= 0) return 0
  if (index >= messages.length) return messages.length
  return cleanCuts(messages, index)?.find((cut) => cut >= index) ?? index
}

/** The clean cuts of the step around `index`, including both ends; empty outside a step. */
function cleanCuts(messages: readonly Message[], index: number): number[] | undefined {
  const roleAt = (at: number) => messages[at]?.role
  let repliesEnd = index
  while (roleAt(repliesEnd) === 'assistant') repliesEnd++
  while (
    repliesEnd > 0 &&
    roleAt(repliesEnd) !== 'assistant' &&
    roleAt(repliesEnd - 1) === 'tool'
  ) {
    repliesEnd--
  }
  let start = repliesEnd
  while (roleAt(start - 1) === 'assistant') start--
  let end = repliesEnd
  while (roleAt(end) === 'tool') end++
  if (index <= start || index >= end) return undefined

  const resultAt = new Map<string, number>()
  for (let at = repliesEnd; at < end; at++) {
    const message = messages[at]
    if (message?.role === 'tool') for (const part of message.parts) resultAt.set(part.callId, at)
  }
  const cuts: number[] = []
  let heldUntil = -1
  for (let at = start; at < end; at++) {
    if (heldUntil < at) cuts.push(at)
    const message = messages[at]
    if (message?.role !== 'assistant') continue
    if (isPrelude(message) && at + 1 < repliesEnd) heldUntil = Math.max(heldUntil, at + 1)
    for (const part of message.parts) {
      if (part.type === 'tool-call') heldUntil = Math.max(heldUntil, resultAt.get(part.id) ?? -1)
    }
  }
  cuts.push(end)
  return cuts
}

/** Only reasoning or provider items, which providers refuse without the reply that follows. */
function isPrelude({ parts }: AssistantMessage): boolean {
  return parts.length > 0 && parts.every(({ type }) => type === 'reasoning' || type === 'opaque')
}
