import type { Dialect } from '../dialect.ts'
import { writeEnvelope } from '../handoff/envelope.ts'
import type {
  AssistantMessage,
  AssistantPart,
  FilePart,
  ImagePart,
  Message,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from '../message.ts'
import { repairPairs, uniqueNames } from '../pairing.ts'
import { isSame, withParts } from '../same.ts'
import type { Accepted } from './accepted.ts'
import { dialectOf } from './all.ts'
import { assistantParts, resultParts, systemParts, userParts } from './parts.ts'
import type { ProviderDialect } from './provider-dialect.ts'
import { fits, type NameRule } from './rules.ts'

/**
 * Turns any list of messages into one that the dialect's provider will not refuse for its form.
 * Valid messages stay the same objects, a valid list stays the same array, and a second call
 * changes nothing. A handoff becomes a user message, merged with the user message that follows it.
 * A conversation may end with a reply here; only a request (see `render`) may not.
 */
export function normalize(messages: readonly Message[], dialect: Dialect): readonly Message[] {
  return normalizeFor(dialectOf(dialect), messages)
}

export function normalizeFor(
  { accepts }: ProviderDialect,
  messages: readonly Message[],
): readonly Message[] {
  const { prepare = unchanged, settle = unchanged } = accepts
  const whole = prepare(withLegalNames(repairPairs(messages).messages, accepts))
  const made = new Set<Message>()
  const settled = settle(withLegalParts(whole, accepts, made))
  const result = withFirstRole(mergeNeighbours(settled, accepts, made), accepts)
  return isSame(result, messages) ? messages : result
}

function unchanged(messages: readonly Message[]): readonly Message[] {
  return messages
}

function withLegalNames(
  messages: readonly Message[],
  { callId: idRule, toolName: nameRule }: Accepted,
): readonly Message[] {
  const uniqueName = uniqueNames(idRule?.lengthMax)
  const newIds = new Map<string, string>()
  const legalName = (name: string) => (nameRule === undefined ? name : clean(name, nameRule))

  return messages.map((message): Message => {
    if (message.role === 'assistant') {
      const parts = message.parts.map((part): AssistantPart => {
        if (part.type !== 'tool-call') return part
        const id = idRule === undefined ? part.id : uniqueName(clean(part.id, idRule))
        if (id !== part.id) newIds.set(part.id, id)
        const name = legalName(part.name)
        return id === part.id && name === part.name ? part : { ...part, id, name }
      })
      return withParts(message, parts)
    }
    if (message.role !== 'tool') return message
    const parts = message.parts.map((part): ToolResultPart => {
      const callId = newIds.get(part.callId) ?? part.callId
      const name = part.name === undefined ? undefined : legalName(part.name)
      if (callId === part.callId && name === part.name) return part
      return { ...part, callId, ...(name !== undefined && { name }) }
    })
    return withParts(message, parts)
  })
}

/** Keeps the characters that every provider accepts; the first is not a digit. */
function clean(name: string, rule: NameRule): string {
  if (fits(name, rule)) return name
  const safe = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, rule.lengthMax)
  return fits(safe, rule) ? safe : `_${safe}`.slice(0, rule.lengthMax)
}

/** Every message with the parts that it may contain; adds new messages to `made`. */
function withLegalParts(
  messages: readonly Message[],
  accepts: Accepted,
  made: Set<Message>,
): readonly Message[] {
  const legal: Message[] = []
  let moved: (ImagePart | FilePart)[] = []
  let isLeading = true
  const add = (message: Message | undefined, isMade = false) => {
    if (message === undefined) return
    legal.push(message)
    if (isMade) made.add(message)
  }
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'system') isLeading = false
    switch (message.role) {
      case 'system':
        if (isLeading || accepts.takesTurns !== true) add(systemParts(message, accepts))
        // Moving it to the front would change its meaning and invalidate the cached prefix.
        else add(userParts({ role: 'user', parts: message.parts, synthetic: true }, accepts), true)
        break
      case 'user':
        add(userParts(message, accepts), message.pinned)
        break
      case 'handoff':
        add(userParts(writeEnvelope(message.handoff), accepts), true)
        break
      case 'assistant':
        add(assistantParts(message, accepts))
        break
      case 'tool': {
        const parts = message.parts.map((part) => {
          const checked = resultParts(part, accepts)
          for (const each of checked.moved) moved.push(each)
          return checked.result
        })
        if (parts.length > 0) add(withParts(message, parts))
        if (moved.length > 0 && messages[at + 1]?.role !== 'tool') {
          const title = { type: 'text', text: '[Shown by the tools above:]' } as const
          add({ role: 'user', parts: [title, ...moved], synthetic: true }, true)
          moved = []
        }
      }
    }
  }
  return legal
}

function mergeNeighbours(
  messages: readonly Message[],
  accepts: Accepted,
  made: ReadonlySet<Message>,
): readonly Message[] {
  const groups: Message[][] = []
  // Whether the newest group accepts another message of its role.
  let isOpen = false
  for (const message of messages) {
    const group = groups.at(-1)
    const { role } = message
    const isMerged: boolean =
      group !== undefined &&
      group[0]?.role === role &&
      (isOpen || made.has(message)) &&
      role !== 'system'
    if (isMerged) group?.push(message)
    else groups.push([message])
    // Other dialects merge only messages that we made, so a compaction leaves no two user messages
    // in a row. Chat also needs a reply's calls in one message before their results.
    const hasCalls =
      accepts.joinsCalls === true &&
      role === 'assistant' &&
      message.parts.some((part) => part.type === 'tool-call')
    isOpen = accepts.takesTurns === true || made.has(message) || hasCalls || (isMerged && isOpen)
  }
  return groups.map(mergeAll)
}

function mergeAll(group: readonly Message[]): Message {
  const [first] = group
  if (first === undefined || group.length === 1) return first as Message
  const parts = group.flatMap((message) => (message.role === 'handoff' ? [] : [...message.parts]))
  switch (first.role) {
    case 'assistant':
      return { role: 'assistant', parts: parts as AssistantMessage['parts'] }
    case 'tool':
      return { role: 'tool', parts: parts as ToolMessage['parts'] }
    default: {
      const isSynthetic = group.every((message) => message.role === 'user' && message.synthetic)
      const message: UserMessage = { role: 'user', parts: parts as UserMessage['parts'] }
      return isSynthetic ? { ...message, synthetic: true } : message
    }
  }
}

function withFirstRole(
  messages: readonly Message[],
  { takesTurns = false }: Accepted,
): readonly Message[] {
  const at = messages.findIndex((message) => message.role !== 'system')
  if (!takesTurns || messages[at]?.role !== 'assistant') return messages
  const text = '[The messages before this one are not shown.]'
  return messages.toSpliced(at, 0, {
    role: 'user',
    parts: [{ type: 'text', text }],
    synthetic: true,
  })
}
