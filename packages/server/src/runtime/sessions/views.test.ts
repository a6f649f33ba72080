import { describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '#core/base/ids'
import { pinnedText } from '#core/message/handoff/pinned'
import { buildContext } from '#core/session/context/build'
import type { Entry, SessionRow } from '#core/store/tables/rows'
import { user } from '../../../../../test/support/builders.ts'
import { summaryOf, viewContext } from './views.ts'

const SESSION = { effective: entryNumber(6) } as SessionRow

describe('contextView', () => {
  const limits = { hardTokens: 1_000, outputTokens: 100 } as SessionRow['limits']
  const entry = (number: number, kind: 'settings' | 'pin', tokens: number, body: unknown) => {
    const meta = { name: 'rule', change: 'set' }
    return { number, kind, meta, tokens, body: JSON.stringify(body) } as unknown as Entry
  }
  const partsFor = (settingsTokens: number) => {
    const source = {
      session: { ...SESSION, limits },
      ...{ effective: entryNumber(0), covers: entryNumber(0), limits },
      entries: [
        entry(1, 'settings', settingsTokens, { system: '' }),
        entry(2, 'pin', 5, 'Never shout.'),
      ],
    }
    const context = buildContext(source, limits, entryNumber(2))
    const { parts } = viewContext(sessionId('s'), context, { limits, settings: null })
    return parts.map(({ kind, tokens, text }) => ({ kind, tokens, text }))
  }

  it('does not mistake a pin for the system text if there is none', () => {
    const pin = { kind: 'pin', tokens: 5, text: pinnedText('rule', 'Never shout.') }
    expect(partsFor(0)).toEqual([pin])
    // The tokens of tools are counted all the same.
    expect(partsFor(40)).toEqual([{ kind: 'system', tokens: 40, text: '' }, pin])
  })
})

describe('the parts of a context', () => {
  it('name each tool with its tokens; the rest is the system text', () => {
    const limits = { hardTokens: 1_000, outputTokens: 100 } as SessionRow['limits']
    const body = { system: 'You help.', tools: ['recall', 'pin'], toolTokens: [30, 15] }
    const source = {
      session: { ...SESSION, limits },
      ...{ effective: entryNumber(0), covers: entryNumber(0), limits },
      entries: [
        { number: 1, kind: 'settings', meta: {}, tokens: 50, body: JSON.stringify(body) },
      ] as unknown as readonly Entry[],
    }
    const context = buildContext(source, limits, entryNumber(1))
    const { parts } = viewContext(sessionId('s'), context, { limits, settings: null })
    expect(parts.map(({ kind, tokens, text }) => [kind, text, tokens])).toEqual([
      ['system', 'You help.', 5],
      ['tool', 'recall', 30],
      ['tool', 'pin', 15],
    ])
  })
})

describe("a client's own compaction", () => {
  const limits = { hardTokens: 1_000, outputTokens: 100 } as SessionRow['limits']
  const row = (number: number, kind: string, meta: object, body: unknown) =>
    ({ number, kind, meta, tokens: 5, at: number, body: JSON.stringify(body) }) as unknown as Entry
  const input = (number: number, message: object) =>
    row(number, 'input', { lane: 'user', mail: 0, blobs: [] }, { message })
  const rewind = row(2, 'revert', { target: 0, previous: 0, to: 0 }, { by: 'client compaction' })
  const summary = input(3, { ...user('So far.'), synthetic: true, isSummary: true })
  const sourceOf = (entries: readonly Entry[]) => ({
    session: {
      ...SESSION,
      state: 'open',
      effective: 0,
      limits,
      pending: { user: 0, notification: 0 },
      pins: {},
    } as never,
    ...{ effective: entryNumber(0), covers: entryNumber(0), limits, entries },
  })

  it('is named in the context: its summary is not a message of the user', () => {
    const source = sourceOf([rewind, summary, input(4, user('And now?'))])
    const context = buildContext(source, limits, entryNumber(4))
    const { parts } = viewContext(sessionId('s'), context, { limits, settings: null })
    expect(parts.map(({ kind, role }) => [kind, role])).toEqual([
      ['tail', 'client-summary'],
      ['incoming', 'user'],
    ])
  })

  it.each([
    ['while it is in effect', [rewind, summary], 2],
    ['not after a rewind to before it', [rewind, input(9, user('Other.'))], null],
    ['also by `leave`', [{ ...rewind, body: '{"by":"leave"}' }, summary], 2],
    ['not by a rewind of the person', [{ ...rewind, body: null }, summary], null],
  ])('reports when the session was compacted, %s', (_, entries, at) => {
    const source = sourceOf(entries)
    const seen = { source, routes: [], usage: {} as never, wait: undefined, left: null }
    expect(summaryOf(source.session, seen).compactedAt).toBe(at)
  })

  it('reports since when a client has left a session, and the size of the context that it continues with', () => {
    const source = sourceOf([rewind, summary, input(4, user('And now?'))])
    const seen = { source, routes: [], usage: {} as never, wait: undefined }
    const told = (left: { at: number; tokens: number } | null) => {
      const of = summaryOf(source.session, { ...seen, left })
      return [of.left, of.contextTokens, of.compactedAt]
    }
    expect(told({ at: 5, tokens: 700 })).toEqual([{ at: 5 }, 700, 5])
    // It has returned since, as the rewind shows.
    expect(told({ at: 3, tokens: 700 })).toEqual(told(null))
    expect(told(null)).toEqual([null, 10, 2])
  })
})
