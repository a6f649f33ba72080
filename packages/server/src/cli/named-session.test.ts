import { describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { create } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { findNamed, requireNamed } from './named-session.ts'

async function holding(...ids: readonly string[]) {
  const store = openMemoryStore()
  for (const id of ids) await create(store, { id: sessionId(id) })
  return store
}

describe('a session is named', () => {
  it('by its id, even if it is a prefix of others', async () => {
    const store = await holding('main', 'main-1', 'main-2')
    expect(await findNamed(store, 'main')).toBe('main')
  })

  it('by a unique prefix', async () => {
    const store = await holding('main-20261115-1achr', 'main-20261116-7bd2x', 'other')
    expect(await findNamed(store, 'main-20261116')).toBe('main-20261116-7bd2x')
    expect(await findNamed(store, 'o')).toBe('other')
  })

  it("by a client's own id or the beginning of it, if it is the only one", async () => {
    const store = await holding('claude-6be8-1', 'codex-6be9-1', 'codex-77', 'claude-77')
    expect(await findNamed(store, '6be8')).toBe('claude-6be8-1')
    expect(await findNamed(store, '6be9-1')).toBe('codex-6be9-1')
    expect(await findNamed(store, 'claude-6')).toBe('claude-6be8-1')
    await expect(findNamed(store, '6b')).rejects.toThrow('begin with 6b: claude-6be8-1, codex-6be9')
    await expect(findNamed(store, '77')).rejects.toThrow('claude-77, codex-77')
  })

  it.each(['nope', 'main-2x', 'not an id', '', '../etc'])('never by %j', async (text) => {
    const store = await holding('main-1', 'main-2')
    expect(await findNamed(store, text)).toBeUndefined()
    await expect(requireNamed(store, text)).rejects.toThrow(`There is no session ${text} in`)
  })

  it('not by an ambiguous prefix; some of the matches are listed', async () => {
    const store = await holding(...Array.from({ length: 9 }, (_, at) => `main-${at}`))
    const found = findNamed(store, 'main-')
    await expect(found).rejects.toThrow(
      'Several sessions begin with main-: main-0, main-1, main-2, main-3, main-4, …. Give more',
    )
    expect(await findNamed(store, 'main-8')).toBe('main-8')
  })
})
