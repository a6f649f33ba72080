import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { Codec } from '../../codec.ts'
import { lastModel } from '../../last-model.ts'
import type { Message, OpaquePart, TextPart, ToolResultPart } from '../../message.ts'
import { opaque, readContent } from '../content.ts'
import { conversationOf } from '../document.ts'
import { asList, numberField, originOf, type Position, textField, without } from '../origin.ts'
import { activeEntries } from './branch.ts'
import { readPiAssistantPart, readPiPart, writePiPart } from './parts.ts'
import { bashText, writeSession } from './session.ts'

/** pi's session files: a tree of entries, most of them messages. */
const FORMAT = 'pi'

export const piFormat: Codec = {
  name: FORMAT,
  framing: 'lines',

  reject(document) {
    const lines = asList(document).filter(isObject)
    const isOurs = (line: JsonObject) =>
      line['type'] === 'session' || (line['type'] === 'message' && isObject(line['message']))
    return lines.some(isOurs) ? undefined : 'no line has the type "session" or "message"'
  },

  parse(document) {
    const lines = asList(document).filter(isObject)
    const header = lines.filter((line) => line['type'] === 'session').slice(0, 1)
    const read: Message[] = []
    let empty = 0
    for (const entry of activeEntries(lines)) {
      const message = readEntry(entry, read.length)
      if (message === 'empty') empty++
      else if (message !== undefined) read.push(message)
    }
    const notes = empty === 0 ? [] : [`Replies that hold nothing were left out: ${empty}.`]
    const model = lastModel(read) ?? (header[0] && textField(header[0], 'modelId'))
    return conversationOf(FORMAT, read, { header, model, notes })
  },

  format: writeSession,
}

/** Undefined for entries that the model never sees. */
function readEntry(entry: JsonObject, at: number): Message | 'empty' | undefined {
  const position = { format: FORMAT, at } as const
  const time = textField(entry, 'timestamp')
  const timed = time === undefined ? {} : { at: time }
  switch (entry['type']) {
    case 'message': {
      const message = isObject(entry['message'])
        ? readMessage(entry, entry['message'], position)
        : undefined
      return typeof message === 'object' ? { ...message, ...timed } : message
    }
    case 'compaction':
    case 'branch_summary': {
      const text = textField(entry, 'summary')
      if (text === undefined) return undefined
      const known = ['type', 'parentId', 'summary', 'firstKeptEntryId', 'firstKeptEntryIndex']
      const origin = originOf(FORMAT, at, without(entry, known), entry['type'])
      return { role: 'user', parts: [{ type: 'text', text }], synthetic: true, ...timed, origin }
    }
    case 'custom_message': {
      const { parts, spelling } = readContent(entry['content'], position, (p) =>
        readPiPart(p, position),
      )
      const fields = without(entry, ['type', 'parentId', 'content'])
      const origin = originOf(FORMAT, at, fields, spelling, 'custom_message')
      return { role: 'user', parts, synthetic: true, ...timed, origin }
    }
    default:
      return undefined
  }
}

function readMessage(
  entry: JsonObject,
  message: JsonObject,
  position: Position,
): Message | 'empty' | undefined {
  const { at } = position
  const outer = without(entry, ['type', 'parentId', 'message'])
  const origin = (known: readonly string[], ...words: string[]) => {
    const inner = without(message, known)
    return originOf(FORMAT, at, { ...outer, ...(inner && { message: inner }) }, ...words)
  }
  const { parts, spelling } = readContent(message['content'], position, (p) =>
    readPiPart(p, position),
  )
  switch (message['role']) {
    case 'user':
      return { role: 'user', parts, origin: origin(['role', 'content'], spelling) }
    case 'system': {
      const system = parts.map((part): TextPart | OpaquePart =>
        part.type === 'text' || part.type === 'opaque'
          ? part
          : opaque('other', writePiPart(part, '') ?? null, position),
      )
      const sections = readSections(message['sections'], at)
      const known = ['role', 'content']
      return { role: 'system', parts: [...system, ...sections], origin: origin(known, spelling) }
    }
    case 'assistant':
      return readReply(message, position, (word) => origin(['role', 'content'], word))
    case 'toolResult': {
      const callId = textField(message, 'toolCallId')
      if (callId === undefined) return undefined
      const name = textField(message, 'toolName')
      const isError = message['isError'] === true
      const part: ToolResultPart = {
        type: 'tool-result',
        callId,
        ...(name !== undefined && { name }),
        output: parts,
        ...(isError && { isError }),
        origin: originOf(FORMAT, at, undefined, spelling),
      }
      const known = ['role', 'content', 'toolCallId']
      if (name !== undefined) known.push('toolName')
      if (isError) known.push('isError')
      return { role: 'tool', parts: [part], origin: origin(known) }
    }
    case 'bashExecution': {
      if (message['excludeFromContext'] === true) return undefined
      const text = bashText(message)
      const bash = originOf(FORMAT, at, { ...outer, message }, 'bashExecution')
      return { role: 'user', parts: [{ type: 'text', text }], synthetic: true, origin: bash }
    }
    case 'branchSummary':
    case 'compactionSummary': {
      const text = textField(message, 'summary') ?? ''
      const summary = origin(['summary'], 'summary')
      return { role: 'user', parts: [{ type: 'text', text }], synthetic: true, origin: summary }
    }
    default:
      // The model gets messages of extensions in the user role, whatever their role name.
      return { role: 'user', parts, synthetic: true, origin: origin(['content'], spelling) }
  }
}

/** pi 0.87 stores its prompt as sections beside an empty content; null removes a section. */
function readSections(sections: JsonValue | undefined, at: number): readonly TextPart[] {
  return Object.entries(isObject(sections) ? sections : {}).flatMap(([name, text]) =>
    typeof text === 'string'
      ? [{ type: 'text', text, origin: originOf(FORMAT, at, { name }, 'section') } as const]
      : [],
  )
}

function readReply(
  message: JsonObject,
  position: Position,
  origin: (word: string) => ReturnType<typeof originOf>,
): Message | 'empty' {
  const api = textField(message, 'api') ?? ''
  const { parts, spelling } = readContent(message['content'], position, (p: JsonValue) =>
    readPiAssistantPart(p, position, api),
  )
  if (parts.length === 0) return 'empty'
  const model = textField(message, 'model')
  const { usage } = message
  return {
    role: 'assistant',
    parts,
    ...(model !== undefined && { model }),
    ...(isObject(usage) && {
      usage: {
        inputTokens:
          numberField(usage, 'input') +
          numberField(usage, 'cacheRead') +
          numberField(usage, 'cacheWrite'),
        outputTokens: numberField(usage, 'output'),
      },
    }),
    origin: origin(spelling),
  }
}
