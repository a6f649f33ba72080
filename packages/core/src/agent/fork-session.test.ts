import { afterEach, describe, expect, it } from 'vitest'
import { openMemoryStore } from '../store/memory/open.ts'
import { openAgent } from './agent.ts'
import { openaiChat } from './typed-formats/openai.ts'

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function open() {
  const store = openMemoryStore()
  const requests: string[] = []
  const agent = await openAgent({
    ...{ store, name: 'mine', format: openaiChat, contextWindow: 32_000, retry: { attempts: 1 } },
    step: ({ request }) => {
      requests.push(JSON.stringify(request))
      return { role: 'assistant' as const, content: `yes ${requests.length}`, refusal: null }
    },
  })
  opened.push(
    () => store.close(),
    () => agent.close(),
  )
  return { agent, requests }
}

describe('session.fork', () => {
  it('returns a session that continues from an entry, and leaves the original unchanged [I36]', async () => {
    const { agent, requests } = await open()
    const session = agent.session('a')
    await session.ask('the first colour is red')
    const [, answered] = await session.history()
    await session.ask('the second colour is blue')
    const forked = await session.fork({ at: answered?.number ?? 0, id: 'b' })
    if (forked.kind !== 'forked') throw new Error(forked.why)
    await forked.session.ask('which?')
    expect(requests.at(-1)).toContain('red')
    expect(requests.at(-1)).not.toContain('blue')
    expect((await forked.session.info())?.forkedFrom).toEqual({ id: 'a', entry: answered?.number })
    expect((await session.history()).length).toBe(4)
  })

  it('answers its own messages, although their numbers repeat those of the original', async () => {
    const { agent } = await open()
    const session = agent.session('a')
    const before = [await session.ask('one'), await session.ask('two')]
    const forked = await session.fork({ id: 'b' })
    if (forked.kind !== 'forked') throw new Error(forked.why)
    // The second waits while the turn of the first ends.
    const after = await Promise.all([forked.session.ask('three'), forked.session.ask('four')])
    const texts = (answers: readonly object[]) => answers.map((each) => 'text' in each && each.text)
    expect(texts(before)).toEqual(['yes 1', 'yes 2'])
    for (const text of texts(after)) expect(text).toMatch(/^yes [34]$/)
  })

  it('creates one fork per key, and refuses invalid requests', async () => {
    const { agent } = await open()
    const session = agent.session('a')
    expect(await session.fork()).toEqual({ kind: 'refused', why: 'unknown-entry', entries: 0 })
    await session.ask('hello')
    const [first, second] = [
      await session.fork({ at: 2, key: 'k' }),
      await session.fork({ at: 2, key: 'k' }),
    ]
    expect([second.kind, 'id' in second && second.id]).toEqual([
      'forked',
      'id' in first && first.id,
    ])
    expect(await session.fork({ at: 1, key: 'k' })).toEqual({ kind: 'refused', why: 'key-reused' })
    expect(await session.fork({ at: 2, id: 'a' })).toEqual({ kind: 'refused', why: 'id-taken' })
    expect(await session.fork({ at: 99 })).toMatchObject({ why: 'unknown-entry' })
    const refused = await session.erase({ entries: 'all', reason: 'asked' })
    expect(refused).toMatchObject({ kind: 'refused', why: 'forked' })
    const done = await session.erase({ entries: 'all', reason: 'asked', forks: 'keep' })
    expect(done).toEqual({ kind: 'done' })
  })
})
