import type { JsonObject } from '#core/base/json'
import { seal } from '../seal.ts'
import { responseIdOf, type StandInReply, splitTokens } from './protocol.ts'

/** An answer in OpenAI's Responses: output items, each sent twice, in pieces and whole. */
export type OutputItem = JsonObject & { readonly id: string; readonly type: string }

export function outputOf(reply: StandInReply): readonly OutputItem[] {
  const { reasoning, text, calls, finish, compaction } = reply.answer
  const status = ['length', 'window', 'content-filter'].includes(finish)
    ? 'incomplete'
    : 'completed'
  const items: OutputItem[] = []
  if (compaction !== undefined) {
    const id = responseIdOf(reply, 'cmp_')
    items.push({ id, type: 'compaction', encrypted_content: seal(compaction) })
  }
  if (reasoning !== '') {
    items.push({
      id: responseIdOf(reply, 'rs_'),
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: reasoning }],
      encrypted_content: seal(reasoning),
    })
  }
  if (text !== '') {
    const part =
      finish === 'refusal'
        ? { type: 'refusal', refusal: text }
        : { type: 'output_text', text, annotations: [], logprobs: [] }
    const id = responseIdOf(reply, 'msg_')
    items.push({ id, type: 'message', status, role: 'assistant', content: [part] })
  }
  for (const [index, { name, input }] of calls.entries()) {
    const call_id = responseIdOf(reply, 'call_', index)
    if (reply.ask.textTools?.includes(name) === true) {
      const id = responseIdOf(reply, 'ctc_', index)
      items.push({ id, type: 'custom_tool_call', status: 'completed', call_id, name, input })
      continue
    }
    items.push({
      id: responseIdOf(reply, 'fc_', index),
      type: 'function_call',
      status: 'completed',
      call_id,
      name,
      arguments: input,
    })
  }
  return items
}

type Add = (type: string, data: JsonObject, tokens?: number) => void

/** The events of one item, from `added` to `done`. */
export function itemFrames(item: OutputItem, output_index: number, add: Add): void {
  const place = { item_id: item.id, output_index }
  switch (item.type) {
    case 'compaction':
      add('response.output_item.added', { output_index, item })
      break
    case 'reasoning':
      add('response.output_item.added', { output_index, item: { ...item, summary: [] } })
      summaryFrames(item, place, add)
      break
    case 'message':
      add('response.output_item.added', {
        output_index,
        item: { ...item, status: 'in_progress', content: [] },
      })
      contentFrames(item, place, add)
      break
    case 'custom_tool_call': {
      const input = String(item['input'])
      add('response.output_item.added', {
        output_index,
        item: { ...item, status: 'in_progress', input: '' },
      })
      for (const delta of splitTokens(input)) {
        add('response.custom_tool_call_input.delta', { ...place, delta }, 1)
      }
      add('response.custom_tool_call_input.done', { ...place, input })
      break
    }
    default: {
      const input = String(item['arguments'])
      add('response.output_item.added', {
        output_index,
        item: { ...item, status: 'in_progress', arguments: '' },
      })
      for (const delta of splitTokens(input)) {
        add('response.function_call_arguments.delta', { ...place, delta }, 1)
      }
      add('response.function_call_arguments.done', { ...place, arguments: input })
    }
  }
  add('response.output_item.done', { output_index, item })
}

function summaryFrames(item: OutputItem, place: JsonObject, add: Add): void {
  const [part = {}] = item['summary'] as readonly JsonObject[]
  const at = { ...place, summary_index: 0 }
  const text = String(part['text'])
  add('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } })
  for (const delta of splitTokens(text)) {
    add('response.reasoning_summary_text.delta', { ...at, delta }, 1)
  }
  add('response.reasoning_summary_text.done', { ...at, text })
  add('response.reasoning_summary_part.done', { ...at, part })
}

function contentFrames(item: OutputItem, place: JsonObject, add: Add): void {
  const [part = {}] = item['content'] as readonly JsonObject[]
  const at = { ...place, content_index: 0 }
  const isRefusal = part['type'] === 'refusal'
  const key = isRefusal ? 'refusal' : 'text'
  const name = isRefusal ? 'response.refusal' : 'response.output_text'
  const logprobs = isRefusal ? {} : { logprobs: [] }
  const text = String(part[key])
  add('response.content_part.added', { ...at, part: { ...part, [key]: '' } })
  for (const delta of splitTokens(text)) add(`${name}.delta`, { ...at, delta, ...logprobs }, 1)
  add(`${name}.done`, { ...at, [key]: text, ...logprobs })
  add('response.content_part.done', { ...at, part })
}
