import { describe, expect, it } from 'vitest'
import {
  ask,
  create,
  fill,
  host,
  LIMITS,
  rowOf,
  say,
  says,
} from '../../../../../test/support/session-host.ts'
import { entryNumber } from '../../base/ids.ts'
import type { Store } from '../../store/contract.ts'
import { FATES, readCompactionReport } from './compaction-report.ts'

async function compacted(turns = 12) {
  const process = host()
  const id = await create(process.store, 'report')
  await say(process.store, id, 'The vault code is kestrel-4482-blue, and nobody else knows it.')
  await process.run(400)
  await fill(process, id, turns)
  await ask(process.store, id, 'compact')
  await process.run(2_000)
  const { effective } = await rowOf(process.store, id)
  expect(effective).toBeGreaterThan(0)
  return { process, store: process.store, id, entry: effective }
}

const reportOf = async ({ store, id, entry }: Awaited<ReturnType<typeof compacted>>) => {
  const report = await readCompactionReport(store, id, entry)
  if (report === undefined) throw new Error('There is no report.')
  return report
}

describe('the report of a compaction', () => {
  it('puts every message that the model had seen into one of four classes, none of them gone', async () => {
    const made = await compacted()
    const report = await reportOf(made)
    const { entries } = (await made.store.readContext({
      sessionId: made.id,
      upto: entryNumber(made.entry - 1),
    })) ?? { entries: [] }
    const said = entries.filter(({ kind }) => ['input', 'assistant', 'result'].includes(kind))
    expect(report.messages.map(({ number }) => number)).toEqual(said.map(({ number }) => number))
    const sum = FATES.reduce((all, fate) => all + report.counts[fate].messages, 0)
    expect(sum).toBe(said.length)
    expect(report.counts.gone.messages).toBe(0)
    expect(report.counts.kept.messages).toBeGreaterThan(0)
    const recallable = report.messages.filter(({ fate }) => fate === 'recallable')
    expect(recallable.length).toBeGreaterThan(0)
    expect(recallable.every(({ recalledBy }) => recalledBy === 'words')).toBe(true)
    expect(report.messages[0]?.excerpt).toBe(
      'The vault code is kestrel-4482-blue, and nobody else knows it.',
    )
  })

  it('calls a message kept if the next context contains it word for word', async () => {
    const made = await compacted()
    const { messages, covers } = await reportOf(made)
    const after = messages.filter(({ number }) => number > covers)
    expect(after.length).toBeGreaterThan(0)
    expect(new Set(after.map(({ fate }) => fate))).toEqual(new Set(['kept']))
    // A person's own words in the handoff are kept too; the replies before the cut are not.
    const replies = messages.filter(({ number, role }) => number <= covers && role === 'assistant')
    expect(replies.some(({ fate }) => fate === 'kept')).toBe(false)
  })

  it('calls a message gone if the context, the index and the transcript all lack it', async () => {
    const made = await compacted()
    const [lost] = (await reportOf(made)).messages.filter(({ fate }) => fate === 'recallable')
    const number = lost?.number ?? 0
    const store: Store = Object.create(made.store, {
      search: { value: async () => ({ hits: [], total: 0, pending: 0 }) },
      readEntries: {
        value: async (query: Parameters<Store['readEntries']>[0]) =>
          (await made.store.readEntries(query)).filter((entry) => entry.number !== number),
      },
    })
    const { counts, messages } = await reportOf({ ...made, store })
    expect(counts.gone.messages).toBe(1)
    expect(messages.find(({ fate }) => fate === 'gone')?.number).toBe(number)
  })

  it('calls a message without words recallable by its number', async () => {
    const process = host()
    const id = await create(process.store, 'wordless')
    process.model.answer = async () => says('…')
    await fill(process, id)
    await ask(process.store, id, 'compact')
    await process.run(2_000)
    const { effective: entry } = await rowOf(process.store, id)
    const { messages, counts } = await reportOf({ process, store: process.store, id, entry })
    const wordless = messages.filter(({ role, fate }) => role === 'assistant' && fate !== 'kept')
    expect(wordless.length).toBeGreaterThan(0)
    expect(wordless.every(({ recalledBy }) => recalledBy === 'number')).toBe(true)
    expect(counts.gone.messages).toBe(0)
  })

  it('states the sizes, the lost cache and the number of calls that pays it back', async () => {
    const made = await compacted()
    const { tokensBefore, tokensAfter, cache, spend } = await reportOf(made)
    expect(tokensAfter).toBeLessThan(tokensBefore)
    expect(tokensBefore).toBeLessThanOrEqual(LIMITS.hardTokens)
    expect(cache.lostTokens).toBe(tokensBefore)
    expect(cache.rewrittenTokens).toBe(tokensAfter)
    const calls = Math.ceil((1.15 * tokensAfter) / (0.1 * (tokensBefore - tokensAfter)))
    expect(cache.breakEvenCalls).toBe(calls)
    expect(cache.breakEvenTurns).toBe(calls)
    expect(spend).toEqual({ calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 })
  })

  it('exists only for entries that are compactions', async () => {
    const { store, id, entry } = await compacted()
    for (const number of [0, 1, entry - 1, entry + 1_000]) {
      expect(await readCompactionReport(store, id, entryNumber(number))).toBeUndefined()
    }
  })
})
