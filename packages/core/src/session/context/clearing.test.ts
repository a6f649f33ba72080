import { describe, expect, it } from 'vitest'
import {
  ask,
  calls,
  create,
  DIGEST,
  host,
  rowOf,
  SETTINGS,
  say,
  says,
} from '../../../../../test/support/session-host.ts'
import { entryNumber, type SessionId } from '../../base/ids.ts'
import { textOf } from '../../message/text.ts'
import type { HandoffRequest, HandoffWriter } from '../handoff.ts'
import { readCompactionReport } from '../view/compaction-report.ts'
import { buildContext, messagesOf } from './build.ts'
import { planClearing } from './clearing.ts'
import type { ContextPiece } from './piece.ts'

const LINE = 'src/harbour.ts:12 the berth table is read before the lock is taken; '

/** A session whose agent reads a long file in each turn, and a writer that records its input. */
async function reading(turns: number, lines = 45) {
  const asked: HandoffRequest[] = []
  const writer: HandoffWriter = {
    write: async (request, signal) => {
      asked.push(request)
      return await DIGEST.write(request, signal)
    },
  }
  let read = 0
  const process = host({ writer, tool: () => `file ${++read}\n${LINE.repeat(lines)}\nend ${read}` })
  process.model.answer = async ({ context }) =>
    context.at(-1)?.role === 'tool' ? says(`read ${read}`) : calls(`call${read + 1}`)
  const id = await create(process.store, 'a')
  const turn = async (count: number) => {
    for (let n = 0; n < count; n++) {
      await say(process.store, id, `Read the next file, please (${read + 1}).`)
      await process.run(400)
    }
  }
  await turn(turns)
  return { process, store: process.store, id, turn, asked }
}

type Reading = Awaited<ReturnType<typeof reading>>

async function operationsOf({ store, id }: Reading) {
  const rows = await store.listOperations({ sessionId: id, limit: 50 })
  return rows.toReversed().map(({ by, state, trigger }) => `${by} ${state} ${trigger}`)
}

async function contextAt({ store, id }: { store: Reading['store']; id: SessionId }, upto?: number) {
  const at = upto === undefined ? {} : { upto: entryNumber(upto) }
  const source = await store.readContext({ sessionId: id, ...at })
  if (source === null) throw new Error('There is no context.')
  const context = buildContext(source, source.limits, entryNumber(upto ?? source.session.tail))
  return { context, texts: messagesOf(context).map(textOf) }
}

describe('a clearing', () => {
  it('replaces a compaction if it frees enough, without a summary or the loss of a message', async () => {
    const session = await reading(7)
    expect(await operationsOf(session)).toEqual(['clearing committed background'])
    expect(session.asked).toEqual([])
    const row = await rowOf(session.store, session.id)
    expect(row).toMatchObject({ by: 'clearing', covers: 0, effective: row.base })
    const before = await contextAt(session, row.effective - 1)
    const { context } = await contextAt(session, row.effective)
    expect(context.tokens).toBeLessThan(before.context.tokens / 2)
    const all = (await contextAt(session)).texts.join('\n')
    for (let n = 1; n <= 7; n++) {
      expect(all).toContain(`Read the next file, please (${n}).`)
      expect(all).toContain(`read ${n}`)
      // Both ends of every result, also of the cleared ones.
      expect(all).toContain(`file ${n}\n`)
      expect(all).toContain(`end ${n}`)
    }
    expect(await session.store.verify({})).toEqual([])
  })

  it('leaves stubs that name the entry of the whole result, and the newest results whole', async () => {
    const session = await reading(7)
    const { effective } = await rowOf(session.store, session.id)
    const { context } = await contextAt(session, effective)
    const results = context.pieces.filter(({ message }) => message.role === 'tool')
    const stubs = results.filter(({ isClipped }) => isClipped === true)
    expect(stubs.length).toBeGreaterThan(2)
    expect(results.at(-1)?.isClipped).toBeUndefined()
    for (const { message, number } of stubs) {
      expect(textOf(message)).toContain(`the original is message ${number} of the transcript`)
      const [entry] = await session.store.readEntries({
        ...{ sessionId: session.id, from: number, to: number },
      })
      expect(entry?.body).toContain(LINE.repeat(45))
    }
  })

  it('happens only if it frees as much as a compaction would', async () => {
    const session = await reading(7)
    const { effective, limits } = await rowOf(session.store, session.id)
    const { context } = await contextAt(session, effective)
    expect(context.tokens).toBeLessThanOrEqual(0.35 * (limits.hardTokens - limits.outputTokens))
    // Words alone cannot be cleared.
    const talk = host()
    const id = await create(talk.store, 'b')
    for (let n = 0; n < 30; n++) {
      await say(talk.store, id, `${LINE.repeat(12)} ${n}`)
      await talk.run(400)
    }
    const rows = await talk.store.listOperations({ sessionId: id, limit: 50 })
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.some(({ by }) => by === 'clearing')).toBe(false)
  })

  it('counts the full size of a shortened message that would fit again', async () => {
    const session = await reading(7)
    const row = await rowOf(session.store, session.id)
    const { context } = await contextAt(session, row.effective - 1)
    const isLast = ({ message, number }: ContextPiece) =>
      message.role === 'user' && number > context.upto - 4
    /** As if the newest message had this size whole, and 300 tokens shortened. */
    const crowded = (wholeTokens: number) => {
      const sized = (tokens: number) =>
        context.pieces.map((piece) => (isLast(piece) ? { ...piece, tokens } : piece))
      const unclipped = sized(wholeTokens)
      return { ...context, pieces: sized(300), unclipped }
    }
    const limits = { ...row.limits, inputTokens: 300 }
    const planned = (wholeTokens: number) =>
      planClearing({ session: { ...row, limits }, context: crowded(wholeTokens) }, SETTINGS)
    // Too large for either context: it stays short.
    expect(planned(5_000)?.tokensAfter).toBeLessThan(context.tokens)
    // Whole beside cleared results, and larger than what they free.
    expect(planned(2_500)).toBeNull()
  })

  it('counts several results in one message separately', async () => {
    const session = await reading(7)
    const row = await rowOf(session.store, session.id)
    const { context } = await contextAt(session, row.effective - 1)
    const at = context.pieces.findIndex(({ message }) => message.role === 'tool')
    const [input, tool] = [context.pieces[at - 2], context.pieces[at]]
    if (input === undefined || tool === undefined) throw new Error('Nothing was read.')
    // 2,400 tokens may be whole: with 400 + 20 tokens of results the message is, with 800 it is not.
    const limits = { ...row.limits, hardTokens: 4_000, outputTokens: 1_000, inputTokens: 1_000 }
    const planned = (small: number) => {
      const sizes = [1_150, small].map((tokens, index) => ({
        number: entryNumber(index + 2),
        tokens,
      }))
      const results = { ...tool, number: entryNumber(3), results: sizes, tokens: 1_150 + small }
      const whole = { ...input, number: entryNumber(1), tokens: 1_900 }
      const short = { ...whole, tokens: 1_000 }
      const crowded = {
        ...{ ...context, system: [], handoff: null, tokens: short.tokens + results.tokens },
        ...{ pieces: [short, results], unclipped: [whole, results] },
      }
      const view = { session: { ...row, limits, seen: entryNumber(9) }, context: crowded }
      return planClearing(view, { ...SETTINGS, targetShare: 0.9, sections: { keepTokens: 0 } })
    }
    // 1,000 + 400 + 400.
    expect(planned(1_150)?.tokensAfter).toBe(1_800)
    // 1,900 + 400 + 20 would be more than the 1,000 + 1,150 + 20 before.
    expect(planned(20)).toEqual({ clears: { upto: 3, tokens: 200 }, tokensAfter: 2_120 })
  })

  it('shows shortened results to the model, and whole ones to the writer of the next handoff', async () => {
    const session = await reading(7)
    await session.turn(1)
    const shown = session.process.model.last.join('\n')
    expect(shown.split(LINE.repeat(45)).length - 1).toBeLessThan(5)
    await session.turn(8)
    expect(await operationsOf(session)).toContain('model committed background')
    expect(session.asked.length).toBeGreaterThan(0)
    const [first] = session.asked
    const given = first?.messages.slice(0, first.cut).map(textOf).join('\n') ?? ''
    expect(given.split(LINE.repeat(45)).length - 1).toBeGreaterThan(6)
    expect(given).not.toContain('[cleared:')
    expect(await session.store.verify({})).toEqual([])
    expect(session.process.crashes).toEqual([])
  })

  it('can be reverted like a compaction, and is not repeated at once', async () => {
    const session = await reading(7, 30)
    const { effective } = await rowOf(session.store, session.id)
    const before = await contextAt(session, effective - 1)
    await ask(session.store, session.id, 'revert')
    await session.process.run(500)
    expect(await rowOf(session.store, session.id)).toMatchObject({ effective: 0, by: null })
    const { texts } = await contextAt(session)
    expect(texts.slice(0, before.texts.length)).toEqual(before.texts)
    expect(await operationsOf(session)).toHaveLength(1)
  })

  it('reports every message as kept or as recallable, and no model calls', async () => {
    const session = await reading(7)
    const { effective } = await rowOf(session.store, session.id)
    const report = await readCompactionReport(session.store, session.id, effective)
    expect(report).toMatchObject({ by: 'clearing', covers: 0 })
    expect(report?.counts.gone.messages).toBe(0)
    expect(report?.spend?.calls).toBe(0)
    const shortened = report?.messages.filter(({ fate }) => fate !== 'kept') ?? []
    expect(shortened.length).toBeGreaterThan(2)
    expect(new Set(shortened.map(({ role }) => role))).toEqual(new Set(['tool']))
    expect(report?.cache.breakEvenCalls).toBeGreaterThan(0)
  })
})
