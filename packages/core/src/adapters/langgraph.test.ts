import { type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import { afterEach, describe, expect, it } from 'vitest'
import { openJournal } from '../agent/journal.ts'
import type { Store } from '../store/contract.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { JournalSaver } from './langgraph.ts'

const opened: Store[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})
function open() {
  const store = openMemoryStore()
  opened.push(store)
  return { store, saver: () => new JournalSaver(openJournal({ store, name: 'graph' })) }
}

const State = Annotation.Root({
  messages: Annotation<BaseMessage[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})

function graphWith(checkpointer: JournalSaver, fails: { now: boolean } = { now: false }) {
  return new StateGraph(State)
    .addNode('first', async () => ({ messages: [new HumanMessage('first')] }))
    .addNode('second', async ({ messages }) => {
      if (fails.now) throw new Error('died')
      return { messages: [new HumanMessage(`second after ${messages.length}`)] }
    })
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', END)
    .compile({ checkpointer })
}

const at = (thread: string) => ({ configurable: { thread_id: thread } })
const texts = (state: { messages: BaseMessage[] }) => state.messages.map(({ text }) => text)

describe('a checkpointer of LangGraph', () => {
  it('continues a thread in another process after its last completed step', async () => {
    const { store, saver } = open()
    const fails = { now: true }
    await expect(
      graphWith(saver(), fails).invoke({ messages: [new HumanMessage('go')] }, at('t')),
    ).rejects.toThrow('died')
    const other = graphWith(saver())
    expect(texts(await other.invoke(null, at('t')))).toEqual(['go', 'first', 'second after 2'])
    const { values } = await graphWith(saver()).getState(at('t'))
    expect(texts(values as typeof State.State)).toHaveLength(3)
    expect(await store.verify({})).toEqual([])
  })

  it('lists checkpoints newest first, and returns to any of them', async () => {
    const { saver } = open()
    const graph = graphWith(saver())
    await graph.invoke({ messages: [new HumanMessage('go')] }, at('t'))
    const found = []
    for await (const tuple of saver().list(at('t'))) found.push(tuple)
    const ids = found.map(({ checkpoint }) => checkpoint.id)
    expect(ids).toEqual(ids.toSorted().toReversed())
    expect(ids.length).toBeGreaterThanOrEqual(3)
    const before = found[0]?.config ?? at('t')
    const older = []
    for await (const tuple of saver().list(at('t'), { before, limit: 1 })) older.push(tuple)
    expect(older.map(({ checkpoint }) => checkpoint.id)).toEqual(ids.slice(1, 2))
    expect((await saver().getTuple(older[0]?.config ?? at('t')))?.checkpoint.id).toBe(ids[1])
  })

  it('keeps threads separate, and erases a deleted one, which can be started again', async () => {
    const { saver } = open()
    const graph = graphWith(saver())
    await graph.invoke({ messages: [new HumanMessage('go')] }, at('t'))
    await graph.invoke({ messages: [new HumanMessage('other')] }, at('u'))
    await saver().deleteThread('t')
    expect(await saver().getTuple(at('t'))).toBeUndefined()
    expect(await saver().getTuple(at('u'))).toBeDefined()
    expect(texts(await graph.invoke({ messages: [new HumanMessage('again')] }, at('t')))).toEqual([
      ...['again', 'first', 'second after 2'],
    ])
  })

  it('refuses a thread without an id', async () => {
    await expect(open().saver().getTuple({ configurable: {} })).rejects.toMatchObject({
      ...{ code: 'invalid-option', at: 'configurable.thread_id' },
    })
  })
})
