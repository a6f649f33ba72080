import { describe, expect, it } from 'vitest'
import { mailNumber } from '#core/base/ids'
import { StoreFixture, said } from '#core/store/contract-suite/bench'
import { everyWordOf, forkAt, talkedThrice } from '#core/store/contract-suite/forks/forks'
import { openMemoryStore } from '#core/store/memory/open'
import { listSummaries } from '../sessions/all-sessions.ts'
import { purge } from './purge.ts'

const countTokens = () => 1

describe('a purge', () => {
  it('removes a long session in pieces of bounded size and scans none twice', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    for (let n = 0; n < 400; n++) await fixture.exchange(`question ${n}`, `answer ${n}`)
    const pieces: { readonly limit: number; readonly after: number }[] = []
    const counting = {
      ...store,
      eraseSome: (request: Parameters<typeof store.eraseSome>[0]) => {
        pieces.push({ limit: request.limit, after: request.after?.entry ?? 0 })
        return store.eraseSome(request)
      },
    }
    const purged = await purge({ store: counting, countTokens }, fixture.id, {
      entries: 'all',
      reason: 'asked',
    })
    expect(purged).toMatchObject({ kind: 'purged', entries: fixture.tail.number })
    expect(pieces.length).toBeGreaterThan(2)
    expect(new Set(pieces.map(({ limit }) => limit))).toEqual(new Set([500]))
    const begun = pieces.map(({ after }) => after)
    expect(begun).toEqual(begun.toSorted((a, b) => a - b))
    expect(begun.slice(1).filter((after) => after === 0)).toEqual([])
    expect((await store.findSession(fixture.id))?.state).toBe('gone')
    const from = { sessionId: fixture.id, from: 1, to: fixture.tail.number } as never
    expect((await store.readEntries(from)).some(({ body }) => body !== null)).toBe(false)
  })

  it('continues where an interrupted purge stopped', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    for (let n = 0; n < 300; n++) await fixture.exchange(`question ${n}`, `answer ${n}`)
    let pieces = 0
    const dying = {
      ...store,
      eraseSome: (request: Parameters<typeof store.eraseSome>[0]) => {
        if (++pieces === 2) throw new Error('the process ended')
        return store.eraseSome(request)
      },
    }
    const request = { entries: 'all', reason: 'asked' } as const
    await expect(purge({ store: dying, countTokens }, fixture.id, request)).rejects.toThrow(
      'the process ended',
    )
    expect((await store.findSession(fixture.id))?.state).toBe('erasing')
    expect(await purge({ store, countTokens }, fixture.id, request)).toMatchObject({
      kind: 'purged',
    })
    expect((await store.findSession(fixture.id))?.state).toBe('gone')
    const [listed] = await listSummaries(
      store,
      { limit: 1 },
      { waitOf: async () => undefined, leftOf: () => null },
    )
    expect(listed).toMatchObject({ state: 'gone', contextTokens: 0, compaction: null })
  })

  it('of the last fork erases what its deleted origin kept for it [I38]', async () => {
    const store = openMemoryStore()
    const origin = await talkedThrice(store)
    const fork = await forkAt(store, origin.id, 6)
    const request = { entries: 'all', reason: 'asked' } as const
    await purge({ store, countTokens }, origin.id, { ...request, forks: 'keep' })
    expect(await everyWordOf(store, origin.id)).toContain('canary')
    await purge({ store, countTokens }, fork.id, request)
    expect((await store.findSession(origin.id))?.state).toBe('gone')
    expect(await everyWordOf(store, origin.id)).not.toContain('canary')
  })

  it('of entries is requested in pieces, and reports a refusal by the mailbox', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    const entries = Array.from({ length: 2_500 }, (_, at) => at + 1)
    const asked = await purge({ store, countTokens }, fixture.id, { entries, reason: 'asked' })
    expect(asked).toMatchObject({ kind: 'asked', entries: 2_500 })
    expect(asked.kind === 'asked' && asked.asked.map(({ mail }) => mail)).toEqual([1, 2, 3])
    const mail = await store.listMail({ sessionId: fixture.id, after: mailNumber(0), limit: 9 })
    const sizes = mail.map(({ body }) => JSON.parse(body ?? '{}').entries.length)
    expect(sizes).toEqual([1_000, 1_000, 500])
    for (;;) {
      const fields = { lane: 'control', control: 'erase', source: 'purge', tokens: 0 } as const
      if ((await fixture.tryAdmit(said('x'), fields)).kind === 'full') break
    }
    const refused = purge({ store, countTokens }, fixture.id, { entries: [1], reason: 'asked' })
    await expect(refused).rejects.toMatchObject({ code: 'purge-not-asked', retryable: true })
  })
})
