import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findTasks } from '#core/compaction/plan/tasks'
import type { Message } from '#core/message/message'
import { expectKind, StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { ToolHost } from '../../../../test/support/tool-host.ts'
import { pinTool } from './pin.ts'
import { tasksTool } from './tasks.ts'

async function ada() {
  const host = new ToolHost(['ada'])
  const { store, countTokens } = host
  host.tools.set('ada', [tasksTool({ store, countTokens }), pinTool({ store, countTokens })])
  const id = await host.open('ada', 's-ada')
  host.start()
  return { host, id }
}

const pin = (name: string, text: string | null) => ({ tool: 'pin', input: { name, text } })

describe('tasks', () => {
  const input = {
    tasks: [
      { content: 'write', status: 'in_progress' },
      { content: 'read', status: 'completed' },
    ],
  }

  it('become an entry of the session, in the form that a compaction reads', async () => {
    const { host, id } = await ada()
    const answers = await host.ask(id, 'plan', [{ tool: 'tasks', input }])
    expect(answers).toEqual(['Kept: 1 open, 1 finished.'])
    const lines = await host.transcript(id)
    expect(lines.filter(({ kind }) => kind === 'task').map(({ body }) => body)).toEqual([input])
    const said = lines.filter(({ kind }) => kind === 'assistant')
    const messages = said.map(({ body }) => body as unknown as Message)
    expect(findTasks(messages)).toEqual([{ text: 'write', status: 'running' }])
  })

  it('are one entry however often the call is repeated', async () => {
    const { host, id } = await ada()
    const [tasks] = host.tools.get('ada') ?? []
    const call = { sessionId: id, agent: 'ada', turn: 1, entry: 1, key: 'same', input }
    for (let time = 0; time < 3; time++) await tasks?.run(call, new AbortController().signal)
    await host.pass(1_000)
    const lines = await host.transcript(id)
    expect(lines.filter(({ kind }) => kind === 'task')).toHaveLength(1)
  })
})

describe('a pin', () => {
  it('is set, replaced and removed before the next step', async () => {
    const { host, id } = await ada()
    await host.ask(id, 'go', [pin('rule', 'Never delete.')], [pin('rule', 'Never ever delete.')])
    expect(await host.pins(id)).toEqual(['Never ever delete.'])
    await host.ask(id, 'go', [pin('rule', null)])
    expect(await host.pins(id)).toEqual([])
  })

  it('that does not fit is refused with the used size, also beside others of the same step', async () => {
    const { host, id } = await ada()
    const long = 'word '.repeat(1_200)
    const answers = await host.ask(id, 'go', [pin('a', long), pin('b', long), pin('c', 'short')])
    expect(answers[0]).toMatch(/^Pinned as a: \d+ of 2000 tokens/)
    expect(answers[1]).toMatch(
      /^Does not fit: with this pin, pins and instructions would take \d+ of 2000 tokens/,
    )
    expect(await host.pins(id)).toEqual([long, 'short'])
  })

  it('is refused by the tool exactly when the store refuses it, with any settings', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 90 }),
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 60 })), {
          maxLength: 5,
        }),
        async (settingsTokens, pins) => {
          const store = openMemoryStore()
          const fixture = await StoreFixture.open(store)
          const settings = { ...fixture.fenced(), body: {}, tokens: settingsTokens }
          fixture.tail = expectKind(await store.changeSettings(settings), 'appended').tail
          const tool = pinTool({
            store,
            countTokens: (_, text) => /\nx+\n/.exec(text)?.[0].trim().length ?? 0,
          })
          for (const [at, [name, tokens]] of pins.entries()) {
            const call = { sessionId: fixture.id, agent: 'ada', turn: 1, entry: 1, key: `k${at}` }
            const input = { name, text: 'x'.repeat(tokens) }
            const said = await tool.run({ ...call, input }, new AbortController().signal)
            const done = await fixture.pin(name, input.text, tokens)
            expect([said.outcome, done.kind]).toEqual(
              done.kind === 'appended' ? ['ok', 'appended'] : ['error', 'no-room'],
            )
            for (const mail of await store.listMail({ sessionId: fixture.id, limit: 9 })) {
              await store.settleControl({ lease: fixture.lease, mail: [mail.number] })
            }
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  it('of the operator cannot be changed, and a missing one cannot be removed', async () => {
    const { host, id } = await ada()
    const answers = await host.ask(id, 'go', [pin('memory', 'mine'), pin('gone', null)])
    expect(answers).toEqual([
      'Not pinned: the name "memory" is reserved for the notes of the agent; choose another.',
      'There is no pin gone. Pins: none.',
    ])
    expect(await host.pins(id)).toEqual([])
  })
})
