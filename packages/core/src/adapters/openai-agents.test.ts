import {
  Agent,
  type AgentInputItem,
  type AssistantMessageItem,
  type Model,
  Runner,
  Usage,
} from '@openai/agents'
import { afterEach, describe, expect, it } from 'vitest'
import { openJournal } from '../agent/journal.ts'
import type { Store } from '../store/contract.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { agentsSession } from './openai-agents.ts'

const opened: Store[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})
function open() {
  const store = openMemoryStore()
  opened.push(store)
  return { store, journal: openJournal({ store, name: 'agents' }) }
}

const user = (content: string): AgentInputItem => ({ type: 'message', role: 'user', content })
const said = (text: string): AssistantMessageItem => ({
  ...{ type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text }],
})

/** Answers with how many items it was given. */
const counting: Model = {
  async getResponse({ input }) {
    const output = [said(`I saw ${input.length}.`)]
    const usage = new Usage({ requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 })
    return { output, usage, responseId: 'r' }
  },
  getStreamedResponse() {
    throw new Error('not used')
  },
}

describe('a session of OpenAI Agents', () => {
  it('returns its history to the real runner, even in another process', async () => {
    const { store, journal } = open()
    const agent = new Agent({ name: 'a', instructions: 'Be brief.', model: counting })
    const runner = new Runner({ tracingDisabled: true })
    const first = await runner.run(agent, 'One.', { session: agentsSession(journal, 'ana') })
    expect(first.finalOutput).toBe('I saw 1.')
    const other = agentsSession(openJournal({ store, name: 'agents' }), 'ana')
    const second = await runner.run(agent, 'Two.', { session: other })
    expect(second.finalOutput).toBe('I saw 3.')
    expect(await other.getItems()).toHaveLength(4)
    expect(await store.verify({})).toEqual([])
  })

  it('applies a transaction once, and changes nothing if it does not match', async () => {
    const session = agentsSession(open().journal, 'ana')
    type Transaction = Parameters<typeof session.applyHistoryTransaction>[0]['transaction']
    const append: Transaction = { type: 'append_items', items: [user('a'), user('b')] }
    const apply = (operationId: string, transaction: Transaction) =>
      session.applyHistoryTransaction({ operationId, transaction })
    await apply('o1', append)
    await apply('o1', append)
    expect(await session.getItems()).toEqual([user('a'), user('b')])
    await expect(apply('o1', { ...append, items: [user('c')] })).rejects.toMatchObject({
      code: 'operation-conflict',
    })
    const replace = (from: string, to: string): Transaction => ({
      type: 'replace_suffix',
      ...{ expectedSuffix: [user(from)], replacement: [user(to)] },
    })
    await apply('o2', replace('b', 'x'))
    await apply('o2', replace('b', 'x'))
    await expect(apply('o3', replace('b', 'y'))).rejects.toMatchObject({ code: 'suffix-mismatch' })
    expect(await session.getItems(1)).toEqual([user('x')])
    expect(await session.popItem()).toEqual(user('x'))
    await session.clearSession()
    expect([await session.getItems(), await session.popItem()]).toEqual([[], undefined])
  })

  it('compacts a long history: pairs stay together, and kept items stay as they were', async () => {
    const { journal } = open()
    const session = agentsSession(journal, 'ana', { compact: { contextWindow: 4_000 } })
    for (let n = 0; n < 30; n++) {
      const call = { callId: `c${n}`, name: 'look' }
      await session.addItems([
        user(`Question ${n}: ${'words '.repeat(80)}`),
        { type: 'function_call', ...call, status: 'completed', arguments: '{}' },
        {
          ...{ type: 'function_call_result', ...call, status: 'completed' },
          output: { type: 'text' as const, text: `Result ${n}. ${'more '.repeat(40)}` },
        },
        said(`Answer ${n}.`),
      ])
    }
    const before = await session.getItems()
    await session.runCompaction()
    const after = await session.getItems()
    expect(JSON.stringify(after).length).toBeLessThan(JSON.stringify(before).length / 2)
    expect(after.at(-1)).toEqual(before.at(-1))
    const callIds = (type: string) =>
      after.flatMap((item) => (item.type === type && 'callId' in item ? [item.callId] : []))
    expect(callIds('function_call_result')).toEqual(callIds('function_call'))
  })

  it('keeps items that were added while it compacted', async () => {
    const { journal } = open()
    let late = 0
    const session = agentsSession(journal, 'ana', {
      compact: {
        contextWindow: 4_000,
        when: 'always',
        summarize: async () => {
          if (late++ === 0) await session.addItems([user('late')])
          return 'They asked many questions about words, and each was answered.'
        },
      },
    })
    const many = Array.from({ length: 40 }, (_, n) => [
      user(`${n} ${'words '.repeat(80)}`),
      said('Yes.'),
    ])
    await session.addItems(many.flat())
    await session.runCompaction()
    const items = await session.getItems()
    expect(items.at(-1)).toEqual(user('late'))
    expect(items).toHaveLength(81)
  })
})
