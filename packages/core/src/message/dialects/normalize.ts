import { checkOneOf } from '../../base/option-checks.ts'
import { DIALECTS, type Dialect } from '../dialect.ts'
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
import { textOf } from '../text.ts'
import { isOutputItem, withoutBrokenItems } from './openai-items.ts'
import { assistantParts, keepParts, resultParts, systemParts, userParts } from './parts.ts'
import { CALL_ID_RULES, fits, type NameRule, TOOL_NAME_RULES } from './rules.ts'

/**
 * Turns any list of messages into one that the dialect's provider will not refuse for its form.
 * Valid messages stay the same objects, a valid list stays the same array, and a second call
 * changes nothing. A handoff becomes a user message, merged with the user message that follows it.
 * A conversation may end with a reply here; only a request (see `render`) may not.
 */
export function normalize(messages: readonly Message[], dialect: Dialect): readonly Message[] {
  checkOneOf('dialect', dialect ?? null, DIALECTS)
  const paired = withLegalNames(repairPairs(messages).messages, dialect)
  const whole = dialect === 'openai-responses' ? withoutBrokenItems(paired) : paired
  const legal = dialect === 'strict' ? asPlainTurns(whole) : whole
  const made = new Set<Message>()
  const spoken = withLegalParts(legal, dialect, made)
  const merged = mergeNeighbours(withoutLooseReasoning(spoken, dialect), dialect, made)
  const result = withFirstRole(merged, dialect)
  return isSame(result, messages) ? messages : result
}

/** Refuse adjacent messages of one role, a first message not the user's, and late system text. */
function takesTurns(dialect: Dialect): boolean {
  return dialect === 'anthropic' || dialect === 'gemini' || dialect === 'strict'
}

function withLegalNames(messages: readonly Message[], dialect: Dialect): readonly Message[] {
  const idRule = ruleOf(CALL_ID_RULES, dialect)
  const nameRule = ruleOf(TOOL_NAME_RULES, dialect)
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

function ruleOf(rules: { readonly [dialect in Dialect]?: NameRule }, dialect: Dialect) {
  return rules[dialect]
}

/** Keeps the characters that every provider accepts; the first is not a digit. */
function clean(name: string, rule: NameRule): string {
  if (fits(name, rule)) return name
  const safe = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, rule.lengthMax)
  return fits(safe, rule) ? safe : `_${safe}`.slice(0, rule.lengthMax)
}

/** For templates without tools: calls become assistant text, results user text. */
function asPlainTurns(messages: readonly Message[]): readonly Message[] {
  const names = new Map<string, string>()
  return messages.map((message): Message => {
    if (message.role === 'assistant') {
      const parts = message.parts.map((part): AssistantPart => {
        if (part.type !== 'tool-call') return part
        names.set(part.id, part.name)
        return { type: 'text', text: textOf(part) }
      })
      return withParts(message, parts)
    }
    if (message.role !== 'tool') return message
    const parts = message.parts.map((part) => {
      const what = part.isError ? 'error from' : 'result of'
      const text = `[${what} ${part.name ?? names.get(part.callId) ?? 'a tool'}]\n${textOf(part)}`
      return { type: 'text' as const, text }
    })
    return { role: 'user', parts, synthetic: true }
  })
}

/** Every message with the parts that it may contain; adds new messages to `made`. */
function withLegalParts(
  messages: readonly Message[],
  dialect: Dialect,
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
        if (isLeading || !takesTurns(dialect)) add(systemParts(message, dialect))
        // Moving it to the front would change its meaning and invalidate the cached prefix.
        else add(userParts({ role: 'user', parts: message.parts, synthetic: true }, dialect), true)
        break
      case 'user':
        add(userParts(message, dialect), message.pinned)
        break
      case 'handoff':
        add(userParts(writeEnvelope(message.handoff), dialect), true)
        break
      case 'assistant':
        add(assistantParts(message, dialect))
        break
      case 'tool': {
        const parts = message.parts.map((part) => {
          const checked = resultParts(part, dialect)
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

/** Drops reasoning that no part of its reply follows, as in a reply that was interrupted. */
function withoutLooseReasoning(messages: readonly Message[], dialect: Dialect): readonly Message[] {
  if (dialect !== 'anthropic' && dialect !== 'openai-responses') return messages
  const kept: Message[] = []
  let isFollowed = false
  for (const message of messages.toReversed()) {
    if (message.role !== 'assistant') {
      isFollowed = false
      kept.push(message)
      continue
    }
    const loose = new Set<number>()
    for (const [index, part] of [...message.parts.entries()].reverse()) {
      if (part.type === 'reasoning') {
        if (!isFollowed) loose.add(index)
      } else isFollowed = !isOutputItem(part)
    }
    let index = 0
    const rest = keepParts(message, () => !loose.has(index++))
    if (rest.parts.length > 0) kept.push(rest)
  }
  return kept.reverse()
}

function mergeNeighbours(
  messages: readonly Message[],
  dialect: Dialect,
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
      dialect === 'openai-chat' &&
      role === 'assistant' &&
      message.parts.some((part) => part.type === 'tool-call')
    isOpen = takesTurns(dialect) || made.has(message) || hasCalls || (isMerged && isOpen)
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

function withFirstRole(messages: readonly Message[], dialect: Dialect): readonly Message[] {
  const at = messages.findIndex((message) => message.role !== 'system')
  if (!takesTurns(dialect) || messages[at]?.role !== 'assistant') return messages
  const text = '[The messages before this one are not shown.]'
  return messages.toSpliced(at, 0, {
    role: 'user',
    parts: [{ type: 'text', text }],
    synthetic: true,
  })
}
