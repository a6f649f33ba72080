import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { entryNumber, type SessionId, sessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import type { AssistantPart } from '#core/message/message'
import { callKey } from '#core/session/step'
import type { Store } from '#core/store/contract'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { openSqliteStore } from '#core/store/sqlite/open'
import { mailOf, open, say, soon } from '../../../../../test/support/runtime-place.ts'
import { until } from '../../../../../test/support/until.ts'
import { memoryBlock } from '../../tools/memory/block.ts'
import { memoryTool, refreshMemory } from '../../tools/memory/memory.ts'
import { ProgramRecords, programId } from '../../tools/process/records.ts'
import { tasksTool } from '../../tools/tasks.ts'
import type { LocalRuntime } from '../open-runtime.ts'
import { forgetNotes, propagateErasure } from './erasure-propagation.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-forgetting-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const WORD = 'QUARTZ'
const one = sessionId('one')
const two = sessionId('two')
const countTokens = () => 1

const ENGINES: readonly [string, () => Promise<Store>][] = [
  ['in memory', async () => openMemoryStore()],
  ['on SQLite', () => openSqliteStore({ path: join(folder, `${randomUUID()}.db`) })],
]

/**
 * Two sessions of an agent that makes the tool call in a message (JSON), and answers any other
 * message.
 */
async function talking(inner: Store, { isShared = true }: { readonly isShared?: boolean } = {}) {
  const store = { ...inner, close: async () => {} }
  const { runtime, agent } = await open({
    store,
    agents: [],
    seams: {
      steps: () => ({
        run: async ({ context, upto }) => {
          const last = JSON.stringify(context.at(-1))
          const text =
            context.at(-1)?.role === 'user' ? (/CALL (.*) END/.exec(last)?.[1] ?? '') : ''
          const call = text === '' ? null : JSON.parse(text.replaceAll('\\"', '"'))
          const parts: AssistantPart[] =
            call === null
              ? [{ type: 'text', text: 'ok' }]
              : [{ type: 'tool-call', id: `c${upto}`, name: call.tool, input: call.input }]
          return { kind: 'replied', message: { role: 'assistant', parts }, tokens: 5 }
        },
      }),
    },
  })
  const tools: NonNullable<typeof agent.tools> = (fixture) => [
    memoryTool({ ...fixture, tokensMax: 500, isShared }),
    tasksTool(fixture),
  ]
  runtime.reconfigure([{ ...agent, tools, sharesNotes: isShared }])
  for (const id of isShared ? [one, two] : [one]) await runtime.createSession({ agent: 'main', id })
  let keys = 0
  const tell = async (id: SessionId, text: string) => {
    const session = runtime.session(id)
    await session.reply(mailOf(await session.admit(say(text, `k${++keys}`))), soon())
    await until(async () => (await inner.findSession(id))?.pending.control === 0)
  }
  /** Shows the current notes; a message would do the same once the two-second cache expires. */
  const show = async (id: SessionId) => {
    const target = { sessionId: id, agent: 'main', key: `show${++keys}` }
    await refreshMemory({ store, countTokens, isShared: true }, target)
    await until(async () => (await inner.findSession(id))?.pending.control === 0)
  }
  const call = (id: SessionId, tool: string, input: JsonObject) =>
    tell(id, `CALL ${JSON.stringify({ tool, input })} END`)
  return { runtime, tell, show, call }
}

const notes = (runtime: LocalRuntime, id: SessionId) =>
  runtime
    .session(id)
    .context({})
    .then((context) => context?.parts.flatMap((part) => (part.kind === 'pin' ? [part.text] : [])))

async function everything(runtime: LocalRuntime, store: Store): Promise<string> {
  const parts: unknown[] = [await store.listNotes({ agent: 'main', limit: 99 })]
  for (const id of [one, two]) {
    const session = runtime.session(id)
    const { tail = entryNumber(0) } = (await store.findSession(id)) ?? {}
    parts.push(
      await session.summary(),
      await session.context({}),
      await store.readEntries({ sessionId: id, from: entryNumber(1), to: tail }),
      await store.listMail({ sessionId: id, limit: 500 }),
      await session.search({ text: WORD, limit: 9, neighbours: 0 }).catch(() => null),
    )
  }
  return JSON.stringify(parts)
}

function wordsKept(): readonly string[] {
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [name, readFileSync(join(folder, name))] as const)
  const holds = (bytes: Buffer) => bytes.toString('latin1').toUpperCase().includes(WORD)
  return files.filter(([, bytes]) => holds(bytes)).map(([name]) => name)
}

describe.each(ENGINES)('a note made from an entry, %s,', (engine, openStore) => {
  it('is erased with it from every session and every mailbox; other notes stay', async () => {
    const store = await openStore()
    const { runtime, tell, show, call } = await talking(store)
    await call(one, 'memory', { action: 'add', id: 'tea', text: 'Likes tea.' })
    await tell(one, `My word is ${WORD}.`)
    await call(one, 'memory', { action: 'add', id: 'word', text: `The word is ${WORD}.` })
    await call(one, 'tasks', { tasks: [{ content: `Keep ${WORD} safe`, status: 'pending' }] })
    await show(two)
    // It was replaced since, so only earlier blocks hold it, and no current note.
    await call(one, 'memory', { action: 'add', id: 'word', text: 'The word was changed.' })
    await show(two)
    expect((await notes(runtime, two))?.[0]).toContain('The word was changed.')
    const said = ((await runtime.session(one).transcript({ from: 1, to: 99 })) ?? []).filter(
      (entry) => entry.kind !== 'pin' && JSON.stringify(entry).includes(WORD),
    )
    const purged = { entries: said.map(({ number }) => number), reason: 'asked' }
    await runtime.session(one).purge(purged)
    await until(async () => !(await everything(runtime, store)).includes(WORD))
    await tell(two, 'And now?')
    for (const id of [one, two]) {
      expect(await notes(runtime, id)).toEqual([expect.stringMatching(/\[tea, .*\] Likes tea\./)])
    }
    expect(await store.verify({})).toEqual([])
    await runtime.close()
    await store.close()
    if (engine === 'on SQLite') expect(wordsKept()).toEqual([])
  })

  it('is erased with its whole session', async () => {
    const store = await openStore()
    const { runtime, show, call } = await talking(store)
    await call(one, 'memory', { action: 'add', id: 'word', text: `The word is ${WORD}.` })
    await show(two)
    expect((await notes(runtime, two))?.[0]).toContain(WORD)
    await runtime.session(one).purge({ entries: 'all', reason: 'asked' })
    await until(async () => !(await everything(runtime, store)).includes(WORD))
    expect(await notes(runtime, two)).toEqual([])
    await runtime.close()
    await store.close()
    if (engine === 'on SQLite') expect(wordsKept()).toEqual([])
  })

  it('is erased with it from a fork that took it along', async () => {
    const store = await openStore()
    const { runtime, tell, call } = await talking(store, { isShared: false })
    await call(one, 'memory', { action: 'add', id: 'tea', text: 'Likes tea.' })
    await call(one, 'memory', { action: 'add', id: 'word', text: `The word is ${WORD}.` })
    const { tail = entryNumber(0) } = (await store.findSession(one)) ?? {}
    const fork = { at: tail, id: two, source: 'test', key: 'fork' }
    expect(await runtime.session(one).fork(fork)).toMatchObject({ kind: 'forked' })
    await tell(two, 'Go on.')
    expect((await notes(runtime, two))?.[0]).toContain(WORD)
    const said = ((await runtime.session(one).transcript({ from: 1, to: 99 })) ?? []).filter(
      (entry) => entry.kind !== 'pin' && JSON.stringify(entry).includes(WORD),
    )
    const purged = { entries: said.map(({ number }) => number), reason: 'asked' }
    await runtime.session(one).purge(purged)
    await until(async () => !(await everything(runtime, store)).includes(WORD))
    await until(async () => (await store.findSession(two))?.pending.control === 0)
    expect(await notes(runtime, two)).toEqual([expect.stringMatching(/\[tea, .*\] Likes tea\./)])
    await runtime.close()
    await store.close()
    if (engine === 'on SQLite') expect(wordsKept()).toEqual([])
  })
})

describe('erasing notes', () => {
  const note = (id: string, text: string, from: StoreFixture) => ({
    ...{ agent: 'ada', scope: from.id as string, id, text },
    origin: { sessionId: from.id, number: entryNumber(2) },
  })

  it('withdraws pending note blocks, and requests each erasure once', async () => {
    const store = openMemoryStore()
    const [source, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
    await source.exchange('My word is …', '"memory"')
    const text = memoryBlock([note('word', WORD, source)]) ?? ''
    await other.pin('memory', text, 5)
    const body = { name: 'memory', text, when: 'between-turns' }
    await other.tryAdmit(body, { lane: 'control', control: 'pin' })
    const forgotten = { sessionId: source.id, entries: new Set([2]) }
    for (let times = 0; times < 2; times++) await forgetNotes({ store, countTokens }, forgotten)
    const mail = await store.listMail({ sessionId: other.id, limit: 9 })
    expect(mail.map(({ control, state, body }) => [control, state, body])).toEqual([
      ['pin', 'withdrawn', null],
      ['pin', 'pending', JSON.stringify({ name: 'memory', text: null })],
      ['erase', 'pending', expect.stringContaining('"entries":[1]')],
    ])
  })

  it("costs the same however long the agent's sessions are", async () => {
    const costs: number[] = []
    for (const exchanges of [3, 60]) {
      const inner = openMemoryStore()
      let read = 0
      const counting: Store = {
        ...inner,
        readEntries: async (query) => {
          const entries = await inner.readEntries(query)
          read += entries.length
          return entries
        },
      }
      const store = propagateErasure({ store: counting, countTokens })
      const [source, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
      await source.exchange('My word is …', '"memory"')
      await other.pin('memory', memoryBlock([note('word', WORD, source)]) ?? '', 5)
      for (const fixture of [source, other]) {
        for (let times = 0; times < exchanges; times++) await fixture.exchange('and', 'so on')
      }
      await source.erase([entryNumber(2)])
      expect((await inner.findSession(other.id))?.pending.control).toBe(2)
      costs.push(read)
    }
    expect(costs[1]).toBe(costs[0])
  })

  it('leaves sessions alone whose notes come from other entries', async () => {
    const store = openMemoryStore()
    const [source, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
    await source.exchange('My word is …', '"memory"')
    await store.putNote(note('drink', 'Likes tea.', other))
    await other.pin('memory', memoryBlock([note('drink', 'Likes tea.', other)]) ?? '', 5)
    const forgotten = { sessionId: source.id, entries: new Set([2]) }
    await forgetNotes({ store, countTokens }, forgotten)
    expect(await store.listNotes({ agent: 'ada', limit: 9 })).toHaveLength(1)
    expect((await store.findSession(other.id))?.pending.control).toBe(0)
  })
})

describe('the record of a program', () => {
  it('is erased with the call that started it, and its end is not reported', async () => {
    const inner = openMemoryStore()
    const store = propagateErasure({ store: inner, countTokens })
    const fixture = await StoreFixture.open(store)
    const records = new ProgramRecords({ store, clock: systemClock, countTokens })
    await fixture.hear('Count the stones.')
    const started = await fixture.reply('"process"', { calls: ['c1'] })
    const key = callKey(fixture.id, started.entry, 'c1')
    const program = { id: programId({ key }), sessionId: fixture.id, title: `count ${WORD}` }
    expect(await records.open(program)).toBeNull()
    await fixture.results('c1')
    await fixture.reply('Started.', { ends: 'answered' })
    await fixture.erase([started.entry])
    const left = await inner.listSchedules({ sessionId: fixture.id, limit: 9 })
    expect(left).toEqual([])
    await records.report(program, `It counted ${WORD}.`)
    expect(await inner.listMail({ sessionId: fixture.id, lane: 'notification', limit: 9 })).toEqual(
      [],
    )
  })
})

it('reads only one list of each session that shows nothing of an erased entry', async () => {
  const inner = openMemoryStore()
  let reads = 0
  const count =
    <Args extends unknown[], Answer>(read: (...args: Args) => Answer) =>
    (...args: Args) => {
      reads++
      return read(...args)
    }
  const store: Store = {
    ...inner,
    findSession: count(inner.findSession),
    listMail: count(inner.listMail),
    readEntries: count(inner.readEntries),
  }
  const fixture = await StoreFixture.open(store)
  for (let others = 0; others < 50; others++) await StoreFixture.open(store)
  reads = 0
  const entries = new Set([entryNumber(1)])
  await forgetNotes({ store, countTokens }, { sessionId: fixture.id, entries })
  expect(reads).toBeLessThan(60)
})
