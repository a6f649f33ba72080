import { describe, expect, it } from 'vitest'
import { entryNumber } from '#core/base/ids'
import { SILENT } from '#core/base/logger'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { NOTHING_SPENT } from '../../auxiliary/attempts.ts'
import { nameSession } from './session-titles.ts'

async function open() {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  await fixture.exchange('My word is QUARTZ.', 'I see.')
  const asked = { sessionId: fixture.id, turn: 1, upto: fixture.tail.number, messages: [] }
  const name = async (meanwhile: () => Promise<unknown>) => {
    const writer = {
      writeTitle: async () => {
        await meanwhile()
        return { kind: 'written', value: 'QUARTZ', spend: NOTHING_SPENT } as const
      },
    }
    const { signal } = new AbortController()
    await nameSession({ store, logger: SILENT }, writer, asked, signal)
    return (await fixture.row()).title
  }
  return { fixture, name }
}

describe('a title', () => {
  it('is kept even if the conversation continues while it is written', async () => {
    const { fixture, name } = await open()
    expect(await name(() => fixture.exchange('And now?', 'Well.'))).toBe('QUARTZ')
  })

  it('does not restore text that was erased while it was written', async () => {
    const { fixture, name } = await open()
    expect(await name(() => fixture.erase([entryNumber(1)]))).toBeNull()
  })

  it('does not restore text that was erased before it was requested', async () => {
    const { fixture, name } = await open()
    await fixture.erase([entryNumber(1)])
    expect(await name(async () => {})).toBeNull()
  })
})
