import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { isObject, type JsonObject, type JsonValue } from '../../src/base/json.ts'
import type { AssistantPart, Message } from '../../src/message/message.ts'
import { objectsOf } from '../../test/support/corpus.ts'
import { type Event, eventOf } from './sessions.ts'

/** Conversations of other agents, with other tools, cut at 60%: do the same rules hold there? */
const MINIMA = { before: 10, after: 4, atoms: 3 }

export function otherEvents(folder: string): { name: string; events: Event[] }[] {
  const tau = readdirSync(path.join(folder, 'tau-bench'))
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const runs = JSON.parse(
        readFileSync(path.join(folder, 'tau-bench', name), 'utf8'),
      ) as JsonValue[]
      return runs.filter(isObject).map((run) => objectsOf(run['traj']).flatMap(readChat))
    })
  const pi = readdirSync(path.join(folder, 'pi-mono'))
    .filter((name) => name.endsWith('.jsonl.gz'))
    .map((name) => {
      const text = gunzipSync(readFileSync(path.join(folder, 'pi-mono', name))).toString()
      // Two entries of one file share a line.
      const lines = text.replaceAll('}{"type":', '}\n{"type":').split('\n').filter(Boolean)
      return lines.flatMap((line) => readPi(JSON.parse(line) as JsonValue))
    })
  return [
    { name: 'tau-bench', events: cutAll(tau) },
    { name: 'pi', events: cutAll(pi) },
  ]
}

function cutAll(conversations: readonly (readonly Message[])[]): Event[] {
  return conversations.flatMap((messages, index) => {
    let cut = Math.floor(messages.length * 0.6)
    while (messages[cut]?.role === 'tool') cut++
    return eventOf({
      half: index % 2 === 0 ? 'tune' : 'test',
      name: `conversation ${index + 1}`,
      before: messages.slice(0, cut),
      after: messages.slice(cut),
      minima: MINIMA,
    })
  })
}

function readChat(message: JsonObject): Message[] {
  const text = typeof message['content'] === 'string' ? message['content'] : ''
  if (message['role'] === 'tool') return [result(message['tool_call_id'], text)]
  if (message['role'] !== 'assistant') {
    const role = message['role'] === 'system' ? 'system' : 'user'
    return [{ role, parts: [{ type: 'text', text }] }]
  }
  const parts: AssistantPart[] = text === '' ? [] : [{ type: 'text', text }]
  for (const call of objectsOf(message['tool_calls'])) {
    const made = isObject(call['function']) ? call['function'] : {}
    const input = JSON.parse(String(made['arguments'])) as JsonValue
    parts.push({ type: 'tool-call', id: String(call['id']), name: String(made['name']), input })
  }
  return [{ role: 'assistant', parts }]
}

function readPi(entry: JsonValue): Message[] {
  const message = isObject(entry) && isObject(entry['message']) ? entry['message'] : {}
  const blocks = objectsOf(message['content'])
  const texts = blocks.flatMap((block) => (block['type'] === 'text' ? [String(block['text'])] : []))
  if (message['role'] === 'toolResult') return [result(message['toolCallId'], texts.join('\n'))]
  if (message['role'] === 'user') {
    return [{ role: 'user', parts: [{ type: 'text', text: texts.join('\n') }] }]
  }
  if (message['role'] !== 'assistant') return []
  const parts: AssistantPart[] = texts.map((text) => ({ type: 'text', text }))
  for (const block of blocks) {
    if (block['type'] !== 'toolCall') continue
    const { id, name, arguments: input } = block
    parts.push({ type: 'tool-call', id: String(id), name: String(name), input: input ?? null })
  }
  return [{ role: 'assistant', parts }]
}

function result(callId: JsonValue | undefined, text: string): Message {
  const output = [{ type: 'text' as const, text }]
  return { role: 'tool', parts: [{ type: 'tool-result', callId: String(callId), output }] }
}
