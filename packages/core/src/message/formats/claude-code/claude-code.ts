import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { Codec } from '../../codec.ts'
import { lastModel } from '../../last-model.ts'
import type {
  AssistantMessage,
  AssistantPart,
  Message,
  Origin,
  UserMessage,
} from '../../message.ts'
import { readAssistantBlock, readSystemBlock } from '../anthropic/blocks.ts'
import { readUser } from '../anthropic/user.ts'
import { readContent } from '../content.ts'
import { conversationOf } from '../document.ts'
import { positioned } from '../openai-responses/items.ts'
import { asList, numberField, originOf, textField, without } from '../origin.ts'
import { activeLines, isSystemPrompt, replyId, withQueuedPrompts } from './branch.ts'
import { writeLines } from './lines.ts'

/** Claude Code's session files: one line per block of a reply, user message or notice. */
const FORMAT = 'claude-code'

export const claudeCodeFormat: Codec = {
  name: FORMAT,
  framing: 'lines',

  reject(document) {
    const lines = asList(document)
    const isOurs = (line: JsonValue) =>
      isObject(line) && (isTurn(line) || isSystemPrompt(line) || 'leafUuid' in line)
    if (lines.some(isOurs)) return undefined
    return 'no line has the type "user" or "assistant" with a message in it'
  },

  parse(document) {
    const lines = withQueuedPrompts(asList(document).filter(isObject))
    const active = inReplies(activeLines(lines))
    let at = 0
    const messages = active.flatMap((reply) => {
      const [first] = reply
      const start = at
      at += reply.length
      if (first === undefined) return []
      if (first['type'] === 'assistant') return [readReply(reply, start)]
      return isSystemPrompt(first) ? [readPrompt(first, start)] : readUserLine(first, start)
    })
    const model = lastModel(messages)
    const errors = lines.filter((line) => line['isApiErrorMessage'] === true).length
    const notes = errors === 0 ? [] : [`Error notices of the API were left out: ${errors}.`]
    return conversationOf(FORMAT, messages, { model, notes })
  },

  format: writeLines,
}

function isTurn(line: JsonObject): boolean {
  return (line['type'] === 'user' || line['type'] === 'assistant') && isObject(line['message'])
}

/** Joins the lines of one reply, even if results of its first calls are between them. */
function inReplies(lines: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const groups: JsonObject[][] = []
  let reply: { id: string; lines: JsonObject[] } | undefined
  for (const line of lines) {
    const id = replyId(line)
    if (id !== undefined && id === reply?.id) {
      reply.lines.push(line)
      continue
    }
    const group = [line]
    groups.push(group)
    if (id !== undefined) reply = { id, lines: group }
    else if (!isResult(line)) reply = undefined
  }
  return groups
}

function isResult(line: JsonObject): boolean {
  const content = isObject(line['message']) ? asList(line['message']['content']) : []
  return content.length > 0 && content.every((b) => isObject(b) && b['type'] === 'tool_result')
}

function readReply(lines: readonly JsonObject[], start: number): AssistantMessage {
  const parts: AssistantPart[] = []
  const origins: Origin[] = []
  let facts: Pick<AssistantMessage, 'model' | 'usage'> = {}
  for (const [index, line] of lines.entries()) {
    const position = { format: FORMAT, at: start + index } as const
    const message = isObject(line['message']) ? line['message'] : {}
    const read = readContent(message['content'], position, (block) =>
      readAssistantBlock(block, position),
    )
    const said = lines.length === 1 ? read.parts : positioned(read.parts, position)
    for (const part of said) parts.push(part)
    const hollow = read.parts.length === 0 && 'hollow'
    origins.push(originOf(FORMAT, position.at, fieldsOf(line), read.spelling, hollow))
    facts = { ...facts, ...factsOf(message) }
  }
  const [first, ...others] = origins as [Origin, ...Origin[]]
  const origin = others.length === 0 ? first : { ...first, others }
  return { role: 'assistant', parts, ...timeOf(lines[0]), ...facts, origin }
}

function factsOf(message: JsonObject): Pick<AssistantMessage, 'model' | 'usage'> {
  const { usage } = message
  const model = textField(message, 'model')
  return {
    ...(model !== undefined && model !== '<synthetic>' && { model }),
    ...(isObject(usage) && {
      usage: {
        inputTokens:
          numberField(usage, 'input_tokens') +
          numberField(usage, 'cache_creation_input_tokens') +
          numberField(usage, 'cache_read_input_tokens'),
        outputTokens: numberField(usage, 'output_tokens'),
      },
    }),
  }
}

function timeOf(line: JsonObject | undefined): { readonly at?: string } {
  const at = line && textField(line, 'timestamp')
  return at === undefined ? {} : { at }
}

function fieldsOf(line: JsonObject): JsonObject {
  const message = isObject(line['message']) ? line['message'] : {}
  const inner = without(message, ['role', 'content'])
  const outer = without(line, ['type', 'parentUuid', 'logicalParentUuid', 'message'])
  return { ...outer, ...(inner && { message: inner }) }
}

function readUserLine(line: JsonObject, at: number): readonly Message[] {
  const position = { format: FORMAT, at } as const
  const message = isObject(line['message']) ? line['message'] : {}
  const isMarked = line['isMeta'] === true || line['isCompactSummary'] === true
  return readUser(message['content'], position, fieldsOf(line)).map((read) => {
    if (read.role !== 'user') return { ...read, ...timeOf(line) }
    const isSynthetic = isMarked || isNotice(read)
    return { ...read, ...timeOf(line), ...(isSynthetic && { synthetic: true as const }) }
  })
}

/** Texts that the program writes in the user role without marking the line. */
const NOTICE =
  /^(?:<(?:local-command-|bash-std|command-name>|task-notification|system-reminder)|\[Request interrupted by user)/

function isNotice(message: UserMessage): boolean {
  const [only, more] = message.parts
  return more === undefined && only?.type === 'text' && NOTICE.test(only.text)
}

function readPrompt(line: JsonObject, at: number): Message {
  const position = { format: FORMAT, at } as const
  const { parts, spelling } = readContent(line['content'], position, (b) =>
    readSystemBlock(b, position),
  )
  const fields = without(line, ['type', 'subtype', 'parentUuid', 'content'])
  return { role: 'system', parts, ...timeOf(line), origin: originOf(FORMAT, at, fields, spelling) }
}
