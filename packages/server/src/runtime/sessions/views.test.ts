import { describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '#core/base/ids'
import { pinnedText } from '#core/message/handoff/pinned'
import { buildContext } from '#core/session/context/build'
import type { Entry, SessionRow } from '#core/store/tables/rows'
import { user } from '../../../../../test/support/builders.ts'
import { mailView, pinsIn, summaryOf, tasksIn, viewContext } from './views.ts'

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

describe('a summary', () => {
  const limits = { hardTokens: 1_000, outputTokens: 100 } as SessionRow['limits']
  const usage = { calls: 2 } as never
  const session = {
    ...{ id: 's', agent: 'main', title: 'Pier', state: 'open', turnState: 'idle', createdAt: 5 },
    ...{ tail: 3, turn: 2, pending: { user: 2, notification: 1, control: 4 }, effective: 0 },
    ...{ policy: 'queue', pins: { rule: {}, 'throughline-notes': {} }, origin: null, forkedAt: 0 },
    ...{ operation: null, runner: 'r', limits },
  } as unknown as SessionRow
  const row = (number: number, kind: string, meta: object, body: unknown = null) => ({
    ...{ number, kind, meta, tokens: 5, at: 100 + number, body: JSON.stringify(body) },
  })
  const entries = [
    row(1, 'input', { lane: 'user', mail: 1, blobs: [] }, { message: user('Hello.') }),
    row(2, 'turn', { turn: 1, ended: 'answered' }),
    row(3, 'turn', { turn: 2, ended: 'stopped' }),
  ] as unknown as readonly Entry[]
  const zero = entryNumber(0)
  const of = (more: object = {}, seen: object = {}) => {
    const whole = { ...session, ...more } as SessionRow
    const source = { session: whole, effective: zero, covers: zero, limits, entries }
    const rest = { routes: [], usage, wait: undefined, left: null }
    return summaryOf(whole, { source: source as never, ...rest, ...seen })
  }
  const PLAIN = {
    ...{ id: 's', agent: 'main', title: 'Pier', forkedFrom: null, state: 'idle', wait: null },
    ...{ isCompacting: false, channels: [], createdAt: 5, activeAt: 103, entries: 3, turn: 2 },
    ...{ lastTurn: 'stopped', waiting: 3, contextTokens: 5, windowTokens: 1_000 },
    ...{ compaction: null, compactedAt: null, left: null, policy: 'queue' },
    ...{ runner: 'r', usage },
  }
  const wait = { code: 'waiting-for-model', text: 'Later.', nextTryAt: 9 }
  const running = { turnState: 'running' }

  it.each<[string, object, object, object]>([
    ['that is idle', {}, {}, {}],
    ['without a title', { title: '' }, {}, { title: null }],
    ['of a fork', { origin: 'o', forkedAt: 7 }, {}, { forkedFrom: { sessionId: 'o', entry: 7 } }],
    ['in a turn', running, {}, { state: 'turn' }],
    [
      'that waits',
      running,
      { wait },
      { state: 'waiting-for-model', wait: { text: 'Later.', nextTryAt: 9 } },
    ],
    [
      'that waits for a person',
      running,
      { wait: { code: 'waiting-for-approval', text: 'Paused.' } },
      { state: 'waiting-for-approval', wait: { text: 'Paused.', nextTryAt: null } },
    ],
    [
      'that waits for a compaction',
      running,
      { wait: { code: 'waiting-for-compaction', text: 'Soon.' } },
      { state: 'waiting-for-compaction', wait: { text: 'Soon.', nextTryAt: null } },
    ],
    ['that waits no more', {}, { wait }, {}],
    ['in a compaction', { operation: 'o1' }, {}, { isCompacting: true }],
    [
      'of two channels',
      {},
      { routes: ['web', 'chat', 'web'].map((channel) => ({ channel })) },
      { channels: ['web', 'chat'] },
    ],
    [
      'that was deleted',
      { state: 'gone', turnState: 'running', effective: 2 },
      { wait },
      { state: 'gone', activeAt: 5, lastTurn: null, waiting: 0, contextTokens: 0 },
    ],
    [
      'that cannot be read',
      { effective: 2 },
      { source: null },
      { activeAt: 5, lastTurn: null, contextTokens: 0, compaction: 2 },
    ],
    ['that was compacted', { effective: 2 }, {}, { compaction: 2, compactedAt: 102 }],
  ])('is whole: of a session %s', (_, more, seen, changed) => {
    const { pins, ...summary } = of(more, seen)
    expect(summary).toEqual({ ...PLAIN, ...changed })
    expect(pins).toContain('rule')
  })
})

it('mail is shown with its words, if it holds a message', () => {
  const item = {
    ...{ sessionId: 's', number: 3, source: 'chat', key: 'k', lane: 'user', control: null },
    ...{ state: 'pending', at: 9, tokens: 4 },
  }
  const { sessionId: _, tokens: __, ...shown } = item
  const of = (body: unknown) => mailView({ ...item, body: JSON.stringify(body) } as never)
  expect(of({ message: user('Hello.') })).toEqual({ ...shown, text: 'Hello.' })
  expect([of({ name: 'a' }), of('a'), of([])].map(({ text }) => text)).toEqual(['', '', ''])
})

it('tasks are those of the last list, else those of the conversation or of its handoff', () => {
  const list = (tasks: unknown) => ({ number: 3, kind: 'task', body: JSON.stringify({ tasks }) })
  const task = { text: 'Sweep.', status: 'running' }
  const handoff = { message: { role: 'handoff', handoff: { tasks: [task] } }, tokens: 1 }
  const context = { system: [], pieces: [], handoff } as never
  const written = [
    ...['pending', 'in_progress', 'completed', 'cancelled', 'odd'].map((status) => ({
      ...{ content: status, status },
    })),
    ...['x', { status: 'completed' }],
  ]
  expect(tasksIn(list(written) as never, context)).toEqual([
    { text: 'pending', status: 'pending' },
    { text: 'in_progress', status: 'running' },
    { text: 'completed', status: 'done' },
    { text: 'cancelled', status: 'cancelled' },
    { text: 'odd', status: 'pending' },
    { text: '', status: 'done' },
  ])
  for (const newest of [undefined, list('x'), { ...list([]), body: 'null' }])
    expect(tasksIn(newest as never, context)).toEqual([task])
  const none = { system: [], pieces: [], handoff: null } as never
  expect(tasksIn(undefined, none)).toEqual([])
})

it('pins are in the order in which they were set, and an erased one says so', () => {
  const pins = {
    b: { entry: 4, tokens: 2 },
    a: { entry: 3, tokens: 1 },
    c: { entry: 9, tokens: 3 },
  }
  const set = (number: number, body: unknown) => ({
    number,
    kind: 'pin',
    body: JSON.stringify(body),
  })
  const source = { session: { pins }, entries: [set(4, 'Two.'), set(3, 'One.'), set(9, null)] }
  expect(pinsIn(source as never)).toEqual([
    { name: 'a', entry: 3, tokens: 1, text: 'One.' },
    { name: 'b', entry: 4, tokens: 2, text: 'Two.' },
    { name: 'c', entry: 9, tokens: 3, text: '[erased]' },
  ])
})

describe('the context of a session with a handoff', () => {
  const limits = { hardTokens: 1_000, outputTokens: 100 } as SessionRow['limits']
  const handoff = {
    preserved: [{ message: user('aaaa') }, { message: user('bb') }],
    tasks: [{ status: 'running', text: 'c' }],
    files: [{ access: 'read', path: 'd.ts' }],
    ledger: [],
    summary: 'e'.repeat(8),
  }
  const piece = (message: object, number: number, tokens = 10) => ({ message, number, tokens })
  const answer = { role: 'assistant', parts: [{ type: 'text', text: 'Yes.' }] }
  const context = {
    ...{ upto: 12, tokens: 90, system: [piece(user('Rule.'), 2, 3)], settings: [], covers: 7 },
    handoff: { message: { role: 'handoff', handoff }, tokens: 35 },
    pieces: [
      piece(user('One.'), 8),
      piece(answer, 9),
      piece(user('Two.'), 10),
      piece({ role: 'tool', parts: [] }, 11),
      piece(user('Three.'), 12),
    ],
  }
  const view = (held: object = {}) =>
    viewContext(sessionId('s'), context as never, { limits, settings: null, ...held })

  it('shares its tokens among its parts by their length, and ends with what came in', () => {
    const part = (kind: string, text: string, tokens: number, role: string | null, at: number) => ({
      ...{ kind, text, tokens, role, origin: { from: at, to: at } },
    })
    const inHandoff = (kind: string, text: string, tokens: number) => ({
      ...{ kind, text, tokens, role: null, origin: { from: 1, to: 7 } },
    })
    expect(view().parts).toEqual([
      part('pin', 'Rule.', 3, null, 2),
      inHandoff('preserved', 'aaaa\n\nbb', 8),
      inHandoff('tasks', 'running: c', 10),
      inHandoff('files', 'read d.ts', 9),
      inHandoff('summary', 'eeeeeeee', 8),
      part('tail', 'One.', 10, 'user', 8),
      part('tail', 'Yes.', 10, 'assistant', 9),
      part('incoming', 'Two.', 10, 'user', 10),
      part('tail', '', 10, 'tool', 11),
      part('incoming', 'Three.', 10, 'user', 12),
    ])
  })

  it.each<[string, object, object]>([
    ['of an earlier time', {}, { hardTokens: 900, softTokens: null, countedTokens: null }],
    [
      'of a client, whose provider counts',
      { countedTokens: 400 },
      { hardTokens: 920, softTokens: 650, countedTokens: 400 },
    ],
  ])('has borders: %s', (_, held, borders) => {
    const { parts: _parts, messages, ...rest } = view(held)
    expect(rest).toEqual({ sessionId: 's', upto: 12, tokens: 90, windowTokens: 1_000, ...borders })
    expect(messages).toHaveLength(6)
  })
})
