import { describe, expect, it } from 'vitest'
import { entryNumber } from '#core/base/ids'
import { SILENT } from '#core/base/logger'
import { SESSION_SETTINGS } from '#core/session/settings'
import type { Store } from '#core/store/contract'
import { LIMITS, StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { NOTHING_SPENT } from '../../auxiliary/attempts.ts'
import type { Written } from '../../auxiliary/small-tasks.ts'
import { NoteProposals } from './note-proposals.ts'

const WRITTEN: Written<readonly string[]> = {
  kind: 'written',
  value: ['The person likes tea.'],
  spend: NOTHING_SPENT,
}
const FAILED: Written<readonly string[]> = { kind: 'failed', reason: 'x', spend: NOTHING_SPENT }

async function open(answers: (Written<readonly string[]> | Error)[]) {
  const inner = openMemoryStore()
  const meanwhile = { happens: async (): Promise<unknown> => null, isNoted: async () => {} }
  const store: Store = {
    ...inner,
    putNote: async (note) => {
      await meanwhile.isNoted()
      return await inner.putNote(note)
    },
  }
  const fixture = await StoreFixture.open(store)
  for (const text of ['I like tea.', 'And rain.']) await fixture.exchange(text, 'I see.')
  const proposals = new NoteProposals({ store, logger: SILENT, countTokens: () => 1 })
  const writer = {
    writeNotes: async () => {
      await meanwhile.happens()
      const answer = answers.shift()
      if (answer === undefined) throw new Error('asked too often')
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  const propose = async (covers: number, { isCommitted = true } = {}) => {
    const operation = await store.findOperation(await fixture.claim(covers))
    if (operation === undefined) throw new Error('not claimed')
    if (isCommitted) await fixture.commit(operation.id)
    const request = {
      ...{ agent: 'ada', operation, focus: null, messages: [], cut: 0, limits: LIMITS },
      open: [],
      entries: [],
      settings: SESSION_SETTINGS,
    }
    const { signal } = new AbortController()
    return {
      again: () => proposals.propose({ notes: { tokensMax: 100 } }, writer, request, signal),
    }
  }
  const notes = async () => await store.listNotes({ agent: 'ada', limit: 10 })
  return { fixture, propose, notes, answers, meanwhile }
}

describe('notes proposed from a range', () => {
  it('are requested again if none were written, and not once some were', async () => {
    const { propose, notes, answers } = await open([FAILED, new Error('down'), WRITTEN])
    const { again } = await propose(4)
    await again()
    await expect(again()).rejects.toThrow('down')
    expect(await notes()).toEqual([])
    await again()
    expect((await notes()).map(({ text }) => text)).toEqual(['The person likes tea.'])
    await again()
    expect(answers).toEqual([])
  })

  it('are erased with any entry of the range', async () => {
    const { fixture, propose, notes } = await open([WRITTEN])
    await (await propose(4)).again()
    expect(await notes()).toHaveLength(1)
    expect(await fixture.erase([entryNumber(1)], 'clean')).toMatchObject({ kind: 'erased' })
    expect(await notes()).toEqual([])
  })

  it('are not kept if an entry is erased while they are written', async () => {
    const { fixture, propose, notes, meanwhile } = await open([WRITTEN])
    const { again } = await propose(4)
    meanwhile.happens = () => fixture.erase([entryNumber(1)], 'clean')
    await again()
    expect(await notes()).toEqual([])
  })

  it('are not kept if an entry was erased before they were requested', async () => {
    const { fixture, propose, notes } = await open([WRITTEN])
    const { again } = await propose(4, { isCommitted: false })
    await fixture.erase([entryNumber(1)])
    await again()
    expect(await notes()).toEqual([])
  })

  it('are withdrawn if an entry is erased at the moment they are stored', async () => {
    const { fixture, propose, notes, meanwhile } = await open([WRITTEN])
    const { again } = await propose(4)
    meanwhile.isNoted = async () => {
      await fixture.erase([entryNumber(1)], 'clean')
    }
    await again()
    expect(await notes()).toEqual([])
  })
})
