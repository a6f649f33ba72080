import type { JsonObject } from '#core/base/json'
import type {
  AssistantPart,
  Message,
  ResultPart,
  ToolCallPart,
  ToolMessage,
  UserMessage,
  UserPart,
} from '#core/message/message'
import { isClientSummary, isLeftHandoff } from './client-notes.ts'
import { hashUnit, type Unit } from './unit.ts'
import { entryEnd, type UnitNode, type UnitTree } from './unit-tree.ts'

/** Converts units to transcript entries and back. */
export interface PlannedEntry {
  readonly message: UserMessage | ToolMessage | (Message & { readonly role: 'assistant' })
  readonly hashes: readonly string[]
}

export interface EntryPlan {
  /** Where the transcript continues, if not at its end. */
  readonly rewindTo: number | null
  readonly entries: readonly PlannedEntry[]
}

/**
 * Plans the entries that record a history, without units that are already recorded. `units` are all
 * those after the nearest shared entry (`sharedDepth`).
 */
export function planEntries(
  tree: UnitTree,
  known: UnitNode,
  units: readonly Unit[],
  { isPartial = false } = {},
): EntryPlan {
  const base = entryEnd(known)
  const isAtHead = base.depth === tree.head.depth && tree.upTo(base.entry) === tree.head
  if (units.length === 0) return { rewindTo: null, entries: [] }
  // A client that compacts sends another history; in the same one the words are the person's.
  const isOther = !isAtHead || base.depth === 0
  const summary = isOther ? findSummary(units) : undefined
  return {
    rewindTo: isAtHead ? null : base.entry,
    entries: groupUnits(units, { isPartial, summary }),
  }
}

/** Only messages of the person that the client kept may precede it. */
function findSummary(units: readonly Unit[]): Unit | undefined {
  const reply = units.findIndex((unit) => roleOf(unit) !== 'user')
  const leading = reply === -1 ? units : units.slice(0, reply)
  return leading.find((unit) => unit.kind === 'text' && isClientSummary(unit.text))
}

/** Why a client sends another history; null: the person went back. */
export function rewindBody({ entries }: EntryPlan): JsonObject | null {
  const summary = entries.find(({ message }) => message.role === 'user' && message.isSummary)
  const [part] = summary?.message.parts ?? []
  if (part?.type !== 'text') return null
  return { by: isLeftHandoff(part.text) ? 'leave' : 'client compaction' }
}

/** Units behind this many have to be handed to `planEntries`. */
export function sharedDepth(known: UnitNode): number {
  return entryEnd(known).depth
}

/**
 * A reply is one entry with all its calls; each result is one; words and pictures together are one;
 * a summary of the client is one.
 */
function groupUnits(
  units: readonly Unit[],
  { isPartial, summary }: { readonly isPartial: boolean; readonly summary: Unit | undefined },
): readonly PlannedEntry[] {
  const groups: Unit[][] = []
  for (const unit of units) {
    const last = groups.at(-1)
    const first = last?.[0]
    const isAlone = unit === summary || first === summary || roleOf(unit) === 'tool'
    const joins = first !== undefined && !isAlone && roleOf(first) === roleOf(unit)
    if (joins) last?.push(unit)
    else groups.push([unit])
  }
  return groups.map((group) => {
    const message = group[0] === summary ? summaryOf(group) : messageOf(group)
    const isCut = isPartial && message.role === 'assistant'
    return {
      message: isCut ? { ...message, isPartial } : message,
      hashes: group.map(hashUnit),
    }
  })
}

function summaryOf(group: readonly Unit[]): PlannedEntry['message'] {
  const message = messageOf(group)
  if (message.role !== 'user') return message
  const [part] = message.parts
  // The next handoff has to repeat the user's words and rules that this one holds.
  const isOurs = part?.type === 'text' && isLeftHandoff(part.text)
  return { ...message, isSummary: true, ...(!isOurs && { synthetic: true }) }
}

function roleOf(unit: Unit): 'user' | 'assistant' | 'tool' {
  if (unit.kind === 'call') return 'assistant'
  return unit.kind === 'result' ? 'tool' : unit.role
}

function messageOf(group: readonly Unit[]): PlannedEntry['message'] {
  const [first] = group
  if (first?.kind === 'result') {
    const { id, output, isError } = first
    const part = { type: 'tool-result', callId: id, output } as const
    return { role: 'tool', parts: [{ ...part, ...(isError && { isError: true }) }] }
  }
  if (first !== undefined && roleOf(first) === 'assistant') {
    return { role: 'assistant', parts: group.flatMap(assistantPart) }
  }
  const parts = group.flatMap((unit): UserPart[] => {
    if (unit.kind === 'text') return [{ type: 'text', text: unit.text }]
    return unit.kind === 'block' ? [unit.part] : []
  })
  return { role: 'user', parts }
}

function assistantPart(unit: Unit): AssistantPart[] {
  switch (unit.kind) {
    case 'text':
      return [{ type: 'text', text: unit.text }]
    case 'call': {
      const { id, name, input, inputText } = unit
      const call: ToolCallPart = { type: 'tool-call', id, name, input }
      return [inputText === undefined ? call : { ...call, inputText }]
    }
    case 'block':
      return [unit.part]
    default:
      return []
  }
}

/** The units of a stored message; equal to those that it was made from. */
export function unitsOf(message: Message): readonly Unit[] {
  switch (message.role) {
    case 'user':
      return message.parts.map((part) =>
        part.type === 'text'
          ? { kind: 'text', role: 'user', text: part.text }
          : { kind: 'block', role: 'user', part },
      )
    case 'assistant':
      return message.parts.flatMap((part): Unit[] => {
        if (part.type === 'text') return [{ kind: 'text', role: 'assistant', text: part.text }]
        if (part.type === 'reasoning') return []
        if (part.type !== 'tool-call') {
          return [{ kind: 'block', role: 'assistant', part: part as ResultPart }]
        }
        const { id, name, input, inputText } = part
        const call = { kind: 'call', id, name, input } as const
        return [inputText === undefined ? call : { ...call, inputText }]
      })
    case 'tool':
      return message.parts.map(({ callId, output, isError }) => ({
        ...{ kind: 'result', id: callId, output, isError: isError === true },
      }))
    default:
      return []
  }
}
