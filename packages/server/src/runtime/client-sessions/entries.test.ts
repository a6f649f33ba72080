import { describe, expect, it } from 'vitest'
import type { Message } from '#core/message/message'
import type { Entry } from '#core/store/tables/rows'
import { unitsOf } from '../../proxy/entry-plan.ts'
import { hashUnit } from '../../proxy/unit.ts'
import type { UnitTree } from '../../proxy/unit-tree.ts'
import { findForkBefore, refusalReason, undoRefusalReason } from '../sessions/refusal-text.ts'
import { addToTree, adoptedEntry } from './entries.ts'
import { hasKnownWindow, isSameFrame } from './frame.ts'

const text = { type: 'text', text: 'hello' } as const
const adopted = (message: object) => adoptedEntry({ message } as never, 5, ['blob'])

describe('adoptedEntry', () => {
  it('makes a reply with its calls, each once', () => {
    const call = (id: string) => ({ type: 'tool-call', id, name: 'read', input: {} })
    const message = { role: 'assistant', parts: [text, call('a'), call('b'), call('a')] }
    expect(adopted(message)).toEqual({
      ...{
        row: null,
        at: 5,
        tokens: expect.any(Number),
        kind: 'assistant',
        calls: ['a', 'b'],
        body: message,
      },
    })
  })

  it.each([
    [{ isError: true }, 'error'],
    [{}, 'ok'],
  ])('makes a result of a tool message: %j', (more, outcome) => {
    const message = {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'a', output: [text], ...more }],
    }
    expect(adopted(message)).toMatchObject({
      kind: 'result',
      call: 'a',
      outcome,
      body: [text],
      blobs: ['blob'],
    })
  })

  it.each([
    [{}, 'user'],
    [{ synthetic: true }, 'notification'],
  ])('makes an input of anything else: %j', (more, lane) => {
    const message = { role: 'user', parts: [text], ...more }
    expect(adopted(message)).toMatchObject({
      kind: 'input',
      lane,
      body: { message },
      blobs: ['blob'],
    })
  })
})

describe('addToTree', () => {
  const added = (kind: string, body: unknown, meta: object = {}) => {
    const calls: unknown[] = []
    const note =
      (verb: string) =>
      (...given: readonly unknown[]) =>
        calls.push([verb, ...given])
    const verbs = ['add', 'undo', 'rewind', 'cover', 'uncover']
    const tree = Object.fromEntries(verbs.map((verb) => [verb, note(verb)])) as unknown as UnitTree
    addToTree(tree, {
      kind,
      number: 9,
      meta,
      body: body === null ? null : JSON.stringify(body),
    } as unknown as Entry)
    return calls
  }
  const hashes = (message: Message) => unitsOf(message).map(hashUnit)

  it('adds the units of messages, replies and results', () => {
    const parts = [text]
    expect(added('input', { message: { parts } })).toEqual([
      ['add', 9, hashes({ role: 'user', parts })],
    ])
    expect(added('assistant', { parts })).toEqual([
      ['add', 9, hashes({ role: 'assistant', parts })],
    ])
    const result: Message = {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'a', output: parts }],
    }
    expect(added('result', parts, { call: 'a' })).toEqual([['add', 9, hashes(result)]])
  })

  it('compares nothing with an erased entry', () => {
    expect(added('input', null)).toEqual([['add', 9, ['erased 9']]])
  })

  it('undoes a handoff, and goes back', () => {
    expect(added('revert', {}, { target: 4 })).toEqual([['undo', 9, 4]])
    expect(added('revert', {}, { target: 4, to: 2 })).toEqual([['rewind', 9, 2]])
  })

  it('covers the messages that a handoff replaced in the request, and nothing otherwise', () => {
    const sent = { wire: 'anthropic', items: '[]' }
    const body = { ...{ summary: 's', ledger: [], files: [], tasks: [], preserved: [] }, sent }
    expect(added('compaction', body, { covers: 6 })).toMatchObject([
      ['cover', 6, { entry: 9, wire: 'anthropic', items: '[]' }],
    ])
    for (const other of [
      {},
      { sent: 'x' },
      { sent: { wire: 'a' } },
      { sent: { items: 'a' } },
      null,
    ]) {
      expect(added('compaction', other, { covers: 6 })).toEqual([['add', 9, []]])
    }
  })

  it('never sends a handoff again that repeats erased words', () => {
    expect(added('erasure', {}, { entries: [3, 5] })).toEqual([
      ['uncover', 3],
      ['uncover', 5],
      ['add', 9, []],
    ])
    expect(added('settings', {})).toEqual([['add', 9, []]])
  })
})

describe('the frame of a request', () => {
  it('is the same with a few words more, within the same window', () => {
    const frame = { windowTokens: 1_000, fixedTokens: 100 }
    const same = (changed: object) => isSameFrame(frame, { ...frame, ...changed })
    expect([same({}), same({ fixedTokens: 120 }), same({ fixedTokens: 80 })]).toEqual([
      true,
      true,
      true,
    ])
    expect([same({ fixedTokens: 121 }), same({ fixedTokens: 79 })]).toEqual([false, false])
    expect(same({ windowTokens: 1_001 })).toBe(false)
  })

  it('has a known window for known models', () => {
    expect([hasKnownWindow('claude-sonnet-4-5'), hasKnownWindow('no-such-model')]).toEqual([
      true,
      false,
    ])
  })
})

describe('refusalReason', () => {
  it('has a reason of its own for each refusal', () => {
    const whys = [
      ...['no-room', 'nothing-to-revert', 'nothing-to-compact', 'tried-too-often', 'out-of-date'],
      ...['no-replacement', 'unknown-pin', 'unknown-entry', 'elsewhere', 'compaction-failed'],
      'not-understood',
    ] as const
    const reasons = whys.map((why) => refusalReason({ kind: 'turned-down', why }))
    expect(new Set(reasons).size).toBe(whys.length)
    for (const reason of reasons) expect(reason).toMatch(/^[a-z].*[^.]$/)
  })

  it('names the sizes, and for an undo what must stay free', () => {
    const end = { kind: 'turned-down', why: 'no-room', tokensAfter: 12_000, limit: 10_000 } as const
    expect(refusalReason(end)).toBe('there is no room for it: 12,000 tokens where 10,000 fit')
    expect(refusalReason({ kind: 'turned-down', why: 'no-room' })).toBe('there is no room for it')
    const sizes = { compaction: 57, windowTokens: 16_000 }
    expect(undoRefusalReason(end, sizes)).toBe(
      'without the compaction at #57 the context would be 12,000 of 16,000 tokens, and 6,000 must stay free for the next message',
    )
    for (const other of [
      { ...end, why: 'elsewhere' as const },
      { kind: 'turned-down' as const, why: 'no-room' as const, limit: 5 },
    ]) {
      expect(undoRefusalReason(other, sizes)).toBe(refusalReason(other))
    }
  })
})

describe('findForkBefore', () => {
  const find = async (covers: number | null, kinds: Readonly<Record<number, string>>) => {
    const ranges: [number, number][] = []
    const session = {
      transcript: async ({ from, to }: { from: number; to: number }) => {
        ranges.push([from, to])
        if (from === 99)
          return covers === null ? [] : [{ number: 99, kind: 'compaction', meta: { covers } }]
        return Array.from({ length: to - from + 1 }, (_, at) => ({
          number: from + at,
          kind: kinds[from + at] ?? 'input',
          meta: {},
        }))
      },
    }
    return { entry: await findForkBefore(session as never, 99 as never), ranges }
  }

  it('is the newest answer that the compaction covers', async () => {
    expect((await find(8, { 3: 'assistant', 6: 'assistant', 9: 'assistant' })).entry).toBe(6)
    expect((await find(8, { 8: 'assistant' })).entry).toBe(8)
    expect((await find(8, {})).entry).toBeNull()
  })

  it('reads 50 entries, and none if nothing is covered', async () => {
    expect((await find(80, { 30: 'assistant' })).ranges).toEqual([
      [99, 99],
      [31, 80],
    ])
    expect((await find(80, { 31: 'assistant' })).entry).toBe(31)
    expect(await find(0, {})).toEqual({ entry: null, ranges: [[99, 99]] })
    expect(await find(null, {})).toEqual({ entry: null, ranges: [[99, 99]] })
    expect((await find(1, { 1: 'assistant' })).entry).toBe(1)
  })
})
