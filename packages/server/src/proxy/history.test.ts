import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { readBody } from './body.ts'
import { planEntries, sharedDepth, unitsOf } from './entry-plan.ts'
import {
  findPosition,
  locate,
  type Placed,
  readHistory,
  unitCount,
  unitsBehind,
} from './history.ts'
import { hashUnit } from './unit.ts'
import { UnitTree } from './unit-tree.ts'
import { anthropicWire } from './wire/anthropic.ts'
import { responsesWire } from './wire/responses.ts'
import type { ClientWire } from './wire/wire.ts'

/** A transcript in memory: what the store does with a plan. */
class Transcript {
  tree = new UnitTree()
  tail = 0
  rewinds = 0

  record(items: readonly JsonObject[], wire: ClientWire = anthropicWire): Placed {
    const placed = this.placed(items, wire)
    const known = locate(this.tree, placed)
    const plan = planEntries(this.tree, known, unitsBehind(placed, sharedDepth(known)))
    if (plan.rewindTo !== null) {
      this.tail += 1
      this.rewinds += 1
      this.tree.rewind(this.tail, plan.rewindTo)
    }
    for (const { hashes, message } of plan.entries) {
      this.tail += 1
      expect(unitsOf(message).map(hashUnit)).toEqual(hashes)
      this.tree.add(this.tail, hashes)
    }
    expect(locate(this.tree, placed).depth).toBe(unitCount(placed))
    return placed
  }

  placed(items: readonly JsonObject[], wire: ClientWire = anthropicWire): Placed {
    const body = readBody(Buffer.from(JSON.stringify({ [wire.list]: items })), wire.list)
    const found = body && findPosition({ id: 's', tree: this.tree }, readHistory(body, wire))
    if (!found) throw new Error('the history is not readable')
    return found
  }
}

const user = (...content: (string | JsonObject)[]) => ({
  role: 'user',
  content: content.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
})
const assistant = (...content: (string | JsonObject)[]) => ({
  ...user(...content),
  role: 'assistant',
})
const use = (id: string): JsonObject => ({
  type: 'tool_use',
  id,
  name: 'Bash',
  input: { b: 1, a: 2 },
})
const result = (id: string, text: string): JsonObject => ({
  ...{ type: 'tool_result', tool_use_id: id, content: text },
})
const reminder = (text: string) => `<system-reminder>\n${text}\n</system-reminder>`

describe('a history compared with its record', () => {
  it('records nothing twice when a request is sent again [proxy law 5]', () => {
    const transcript = new Transcript()
    const items = [user('one'), assistant('two', use('c')), user(result('c', 'x'))]
    transcript.record(items)
    const { tail } = transcript
    transcript.record(items)
    expect([transcript.tail, transcript.rewinds]).toEqual([tail, 0])
  })

  it('treats a moved cache mark, another spelling and other key orders as the same [proxy law 5]', () => {
    const transcript = new Transcript()
    transcript.record([user('one '), assistant(use('c')), user(result('c', 'x'))])
    const { tail } = transcript
    const marked = { type: 'text', text: 'one', cache_control: { type: 'ephemeral' } }
    const call = { type: 'tool_use', id: 'c', name: 'Bash', input: { a: 2, b: 1 } }
    const blocks = { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'x' }] }
    transcript.record([user(marked), assistant(call), user(blocks)])
    expect(transcript.tail).toBe(tail)
  })

  it('treats a model switch as an extension [proxy law 6]', () => {
    const transcript = new Transcript()
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' }
    transcript.record([user(reminder('env'), 'one'), assistant(thinking, 'two'), user('three')])
    const { tail } = transcript
    const system = { role: 'system', content: [{ type: 'text', text: reminder('env') }] }
    const switched = [system, user('one'), { role: 'system', content: [] }, assistant('two')]
    transcript.record([...switched, user('three', 'four')])
    expect([transcript.tail, transcript.rewinds]).toEqual([tail + 1, 0])
  })

  it('treats a prompt appended to an unanswered message as an extension [proxy law 7]', () => {
    const transcript = new Transcript()
    transcript.record([user('one'), assistant(use('c')), user(result('c', 'x'))])
    const { tail } = transcript
    transcript.record([user('one'), assistant(use('c')), user(result('c', 'x'), 'two')])
    expect([transcript.tail, transcript.rewinds]).toEqual([tail + 1, 0])
  })

  it('does not treat a reminder inside a result as a change of the result', () => {
    const transcript = new Transcript()
    transcript.record([user('one'), assistant(use('c')), user(result('c', 'x'))])
    const { tail } = transcript
    const noted = result('c', `x\n\n${reminder('<total_tokens>9</total_tokens>')}`)
    transcript.record([user('one'), assistant(use('c')), user(noted)])
    expect(transcript.tail).toBe(tail)
  })

  it('makes a branch of a rewind and finds both again [proxy law 8]', () => {
    const transcript = new Transcript()
    const old = [user('one'), assistant('two'), user('three'), assistant('four')]
    const other = [user('one'), assistant('two'), user('five')]
    transcript.record(old)
    transcript.record(other)
    expect(transcript.rewinds).toBe(1)
    const { tail } = transcript
    // Back to the old one, as after a rewind past a compaction: only what is new is recorded.
    transcript.record([...old, user('six')])
    expect([transcript.tail, transcript.rewinds]).toEqual([tail + 2, 2])
  })

  it('records a reply that was kept in part as far as it was kept [proxy law 18]', () => {
    const transcript = new Transcript()
    transcript.record([user('one'), assistant('two', use('c'))])
    transcript.record([user('one'), assistant('two'), user('three')])
    // Back to before the reply, its kept part, and what follows.
    expect([transcript.tail, transcript.rewinds]).toEqual([5, 1])
    expect(transcript.tree.head.depth).toBe(3)
  })

  it('continues after a handoff that the client names by its address', () => {
    const transcript = new Transcript()
    const call = { type: 'function_call', call_id: 'c', name: 'run', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: 'c', output: 'x' }
    const say = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] })
    transcript.record([say('one'), { type: 'reasoning', id: 'r' }, call, output], responsesWire)
    const boundary = { entry: 9, wire: 'responses', items: '{}', text: '' }
    transcript.tree.cover(transcript.tail, boundary)
    const { tail } = transcript
    const item = { type: 'compaction', encrypted_content: 'throughline.s.9' }
    const placed = transcript.record([say('one'), item, say('two')], responsesWire)
    expect([transcript.tail, transcript.rewinds, placed.from]).toEqual([tail + 1, 0, 2])
  })
})
