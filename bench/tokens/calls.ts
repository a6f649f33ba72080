import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { isObject, type JsonObject, type JsonValue } from '../../packages/core/src/base/json.ts'
import type {
  AssistantPart,
  Message,
  ResultPart,
  UserPart,
} from '../../packages/core/src/message/message.ts'
import { blocksOf } from '../../test/support/corpus.ts'

/**
 * Recorded model calls with what the provider reported, read straight from the session files: the
 * codecs give the context of today, here every call of the past is wanted.
 */
export interface Call {
  readonly model: string
  /** All input of the call: fresh, written to the cache, read from the cache. */
  readonly reportedInput: number
  /** What came to the context since the previous call's input: its reply, results, user messages. */
  readonly added: readonly Message[]
}

/** Calls of one session that build on each other; a compaction or a lost reply starts a new stretch. */
export type Stretch = readonly Call[]

export interface SessionCalls {
  readonly source: 'claude-code' | 'pi-mono'
  readonly stretches: readonly Stretch[]
}

export function readSessions(corpus: string): readonly SessionCalls[] {
  return [
    ...readFolder(join(corpus, 'claude-code')).map((lines) => readClaudeCode(lines)),
    ...readFolder(join(corpus, 'pi-mono')).map((lines) => readPi(lines)),
  ]
}

function readFolder(folder: string): readonly (readonly JsonObject[])[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl.gz'))
  return names.sort().map((name) => {
    const text = gunzipSync(readFileSync(join(folder, name))).toString()
    return text.split('\n').flatMap(parseLine)
  })
}

function parseLine(line: string): readonly JsonObject[] {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? [value] : []
  } catch {
    return [] // blank lines, and one stray line in a session of pi-mono
  }
}

/** Collects calls into stretches; a call whose reply is still growing is kept back until it is whole. */
class Collector {
  readonly stretches: Call[][] = []
  #stretch: Call[] = []
  #reply: AssistantPart[] = []
  #added: Message[] = []
  #id: string | undefined

  /** Several lines with one id are one call. */
  reply(call: { id: string; model: string; reportedInput: number }, parts: AssistantPart[]): void {
    if (call.id !== this.#id) {
      const reply: Message[] =
        this.#reply.length > 0 ? [{ role: 'assistant', parts: this.#reply }] : []
      this.#stretch.push({ ...call, added: [...reply, ...this.#added] })
      this.#id = call.id
      this.#reply = []
      this.#added = []
    }
    this.#reply.push(...parts)
  }

  add(message: Message): void {
    this.#added.push(message)
  }

  cut(): void {
    if (this.#stretch.length > 0) this.stretches.push(this.#stretch)
    this.#stretch = []
    this.#reply = []
    this.#added = []
    this.#id = undefined
  }
}

function readClaudeCode(lines: readonly JsonObject[]): SessionCalls {
  const collector = new Collector()
  for (const line of lines) {
    if (line['isSidechain'] === true) continue
    const subtype = line['subtype']
    // A micro-compaction clears old tool results, and an error may hide calls that were repeated.
    if (subtype === 'compact_boundary' || subtype === 'microcompact_boundary') collector.cut()
    const message = objectOf(line['message'])
    if (line['type'] === 'assistant' && message['model'] !== '<synthetic>') {
      const usage = objectOf(message['usage'])
      collector.reply(
        {
          id: String(message['id']),
          model: String(message['model']),
          reportedInput:
            numberOf(usage['input_tokens']) +
            numberOf(usage['cache_creation_input_tokens']) +
            numberOf(usage['cache_read_input_tokens']),
        },
        blocksOf(message['content']).flatMap(assistantPart),
      )
    } else if (line['type'] === 'user') {
      for (const added of userMessages(blocksOf(message['content']))) collector.add(added)
    }
  }
  collector.cut()
  return { source: 'claude-code', stretches: collector.stretches }
}

function readPi(lines: readonly JsonObject[]): SessionCalls {
  const collector = new Collector()
  for (const [index, line] of lines.entries()) {
    if (line['type'] === 'compaction' || line['type'] === 'model_change') collector.cut()
    const message = objectOf(line['message'])
    const blocks = blocksOf(message['content'])
    if (message['role'] === 'assistant') {
      const usage = objectOf(message['usage'])
      const reportedInput =
        numberOf(usage['input']) + numberOf(usage['cacheRead']) + numberOf(usage['cacheWrite'])
      // A reply that was broken off is not sent again, or only in part.
      if (message['stopReason'] === 'aborted' || message['stopReason'] === 'error') collector.cut()
      else {
        const call = { id: `${index}`, model: String(message['model']), reportedInput }
        collector.reply(call, blocks.flatMap(assistantPart))
      }
    } else if (message['role'] === 'toolResult') {
      const callId = String(message['toolCallId'])
      const output = blocks.flatMap(resultPart)
      collector.add({ role: 'tool', parts: [{ type: 'tool-result', callId, output }] })
    } else if (message['role'] === 'user') {
      collector.add({ role: 'user', parts: blocks.flatMap(resultPart) })
    } else if (message['role'] === 'bashExecution') {
      const text = `${String(message['command'])}\n${String(message['output'])}`
      collector.add({ role: 'user', parts: [{ type: 'text', text }] })
    }
  }
  collector.cut()
  return { source: 'pi-mono', stretches: collector.stretches }
}

function assistantPart(block: JsonObject): AssistantPart[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: String(block['text']) }]
    case 'thinking':
      return [{ type: 'reasoning', text: String(block['thinking']) }]
    case 'tool_use':
    case 'toolCall': {
      const input = block['input'] ?? block['arguments'] ?? {}
      return [{ type: 'tool-call', id: String(block['id']), name: String(block['name']), input }]
    }
    default:
      return []
  }
}

function userMessages(blocks: readonly JsonObject[]): Message[] {
  const messages: Message[] = []
  const said: UserPart[] = []
  for (const block of blocks) {
    if (block['type'] !== 'tool_result') said.push(...resultPart(block))
    else {
      const output = blocksOf(block['content']).flatMap(resultPart)
      const callId = String(block['tool_use_id'])
      messages.push({ role: 'tool', parts: [{ type: 'tool-result', callId, output }] })
    }
  }
  if (said.length > 0) messages.push({ role: 'user', parts: said })
  return messages
}

function resultPart(block: JsonObject): ResultPart[] {
  if (block['type'] === 'text') return [{ type: 'text', text: String(block['text']) }]
  if (block['type'] === 'image') return [{ type: 'image', source: { kind: 'id', id: '' } }]
  return []
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}
