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
} from '../../../../test/support/session-host.ts'
import { mailNumber, sessionId } from '../base/ids.ts'
import { textOf } from '../message/text.ts'
import type { Store } from '../store/contract.ts'
import type { WantedSettings } from './settings.ts'
import type { StepOutcome } from './step.ts'

/** Changes from outside during a session's turn: settings, erasure, memory, stops. */

const HOUR_MS = 60 * 60_000
const DOWN: StepOutcome = { kind: 'failed', reason: 'down', retryable: true }

const wanted = (system: string, limits = LIMITS): WantedSettings => ({
  limits,
  body: { system },
  tokens: 20,
})

/** A model that answers on demand. */
function held() {
  const { promise, resolve } = Promise.withResolvers<StepOutcome>()
  return { answer: () => promise, resolve }
}

function counting(store: Store, verb: 'changeSettings') {
  const counted = { calls: 0 }
  const counter: Store = Object.create(store)
  counter[verb] = (request) => {
    counted.calls++
    return store[verb](request)
  }
  return { store: counter, counted }
}

describe('a model that is down for an hour', () => {
  it('loses no message, is reported once, is tried rarely, and every message is answered in order', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    process.model.answer = async () => DOWN
    for (const text of ['one', 'two', 'three']) {
      await say(process.store, id, text)
      await process.run(HOUR_MS / 3)
    }
    expect(process.notices).toEqual(['waiting-for-model'])
    expect(process.sent).toEqual([])
    // Half a minute, then doubling up to ten minutes.
    expect(process.model.shown.length).toBeLessThan(15)
    process.model.answer = async () => says('at last')
    await process.run(11 * 60_000)
    expect(process.sent).toEqual(['a: {"text":"at last"}'])
    expect(process.model.last).toEqual(['one', 'two', 'three'])
  })

  it('is tried at once after it answered another session', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    process.model.answer = async () => DOWN
    await say(process.store, id, 'hello')
    await process.run(20_000)
    process.model.answer = async () => says('back')
    process.runner.modelIsBack(1)
    await process.run(500)
    expect(process.sent).toEqual(['a: {"text":"back"}'])
  })

  it('lets a stop end the waiting turn, and the next message is answered', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    process.model.answer = async () => DOWN
    await say(process.store, id, 'hello')
    await process.run(5_000)
    await ask(process.store, id, 'stop')
    await process.run(1_000)
    expect(await rowOf(process.store, id)).toMatchObject({ turnState: 'idle', turn: 1 })
    process.model.answer = async () => says('back')
    await say(process.store, id, 'and now?')
    await process.run(HOUR_MS)
    expect(process.sent).toEqual(['a: {"text":"back"}'])
  })
})

describe('many sessions at work', () => {
  it('look again one by one, and at once when a message arrives or is withdrawn', async () => {
    const SESSIONS = 12
    const looked: string[] = []
    const place = host()
    const store: Store = Object.create(place.store)
    store.look = (query) => {
      looked.push(query.sessionId)
      return place.store.look(query)
    }
    await place.runner.close()
    const { run, model } = host({ store, timeline: place.timeline, name: 'two' })
    model.answer = () => new Promise(() => {})
    for (let number = 0; number < SESSIONS; number++) {
      await say(store, await create(store, `s${number}`), 'hello')
    }
    const id = sessionId('s7')
    const listPending = () => store.listMail({ sessionId: id, state: 'pending', limit: 1 })
    const lookedAfter = async (act: () => Promise<unknown>) => {
      looked.length = 0
      await act()
      await run(150)
      return [...new Set(looked)]
    }
    await run(1_000)
    // Once in a while each of them looks, but never all at once.
    const seen = new Set<string>()
    while (seen.size < SESSIONS) {
      const now = await lookedAfter(async () => {})
      expect(now.length).toBeLessThan(4)
      for (const each of now) seen.add(each)
    }
    const told = await lookedAfter(() => say(store, id, 'one more thing'))
    expect([told.includes(id), told.length < 4]).toEqual([true, true])
    const [mail] = await listPending()
    const withdraw = () => store.withdraw({ sessionId: id, mail: mail?.number ?? mailNumber(0) })
    const withdrawn = await lookedAfter(withdraw)
    expect([withdrawn.includes(id), withdrawn.length < 4]).toEqual([true, true])
    expect(await listPending()).toEqual([])
  })
})

describe('settings that the operator changed', () => {
  it('take effect between two turns, never within one', async () => {
    let now = wanted('first')
    const process = host({ wanted: () => now })
    const id = await create(process.store, 'a')
    const { answer, resolve } = held()
    process.model.answer = answer
    await say(process.store, id, 'hello')
    await process.run(500)
    now = wanted('second')
    await process.run(5_000)
    const systemOf = (at: number) => process.model.shown[at]?.context.map(textOf)[0]
    resolve(says('ok'))
    await process.run(500)
    process.model.answer = async () => says('ok')
    await say(process.store, id, 'and now?')
    await process.run(500)
    expect([systemOf(0), systemOf(1)]).toEqual(['first', 'second'])
    const entries = await process.store.readEntries({
      sessionId: id,
      from: 1 as never,
      to: (await rowOf(process.store, id)).tail,
    })
    expect(entries.map(({ kind }) => kind)).toEqual([
      ...['settings', 'input', 'assistant', 'turn', 'settings', 'input', 'assistant', 'turn'],
    ])
  })

  it('that are refused are read once, and again when they change', async () => {
    // The parts do not fit below the limit, so the store refuses them.
    let now = wanted('huge', { ...LIMITS, handoffTokens: LIMITS.hardTokens })
    const plain = host()
    await plain.runner.close()
    const { store, counted } = counting(plain.store, 'changeSettings')
    const process = host({ store, wanted: () => now })
    const id = await create(store, 'a')
    await say(store, id, 'hello')
    await process.run(20_000)
    for (const text of ['more', 'and more']) {
      await say(store, id, text)
      await process.run(200)
    }
    expect(process.crashes).toEqual([])
    expect(process.sent).toHaveLength(3)
    expect(counted.calls).toBe(2)
    now = wanted('fits')
    await say(store, id, 'and now?')
    await process.run(500)
    expect(process.model.shown.at(-1)?.context.map(textOf)[0]).toBe('fits')
    expect(counted.calls).toBe(3)
  })
})

describe('an imported session', () => {
  /** The file of a session with other settings, as far as `work` brought it. */
  async function fileOf(work: (theirs: ReturnType<typeof host>) => Promise<void>) {
    const theirs = host({ wanted: () => wanted('THEIRS') })
    const id = await create(theirs.store, 'a')
    await work(theirs)
    const lines: string[] = []
    for await (const line of theirs.store.exportSession(id)) lines.push(line)
    return { id, lines }
  }
  const systemsOf = ({ model }: ReturnType<typeof host>) =>
    model.shown.map(({ context }) => context.map(textOf)[0])

  it('does not continue a turn of its file: neither its system text nor its calls take effect', async () => {
    const { id, lines } = await fileOf(async (theirs) => {
      const parts = [{ type: 'tool-call', id: 'c1', name: 'look', input: {} }] as const
      const message = { role: 'assistant', parts } as const
      theirs.model.answer = async () => ({ kind: 'replied', message, tokens: 9 })
      theirs.tools.run = () => new Promise(() => {})
      await say(theirs.store, sessionId('a'), 'hello')
      await theirs.run(500)
    })
    const ours = host({ wanted: () => wanted('ours') })
    const calls: string[] = []
    ours.tools.isRepeatable = () => true
    ours.tools.run = async ({ call }) => {
      calls.push(call.name)
      return { outcome: 'ok', output: 'done', tokens: 4 }
    }
    expect(await ours.store.importSession(lines)).toMatchObject({ kind: 'imported' })
    await ours.run(2_000)
    expect([systemsOf(ours), calls]).toEqual([[], []])
    expect(ours.sent).toEqual([expect.stringContaining('Please send it again')])
    await say(ours.store, id, 'hello again')
    await ours.run(2_000)
    expect(systemsOf(ours)).toEqual(['ours'])
    expect(ours.sent).toHaveLength(2)
    expect(await ours.store.verify({})).toEqual([])
  })

  it('reports that its pins leave no space for our settings, and continues when they are removed', async () => {
    const { id, lines } = await fileOf(async (theirs) => {
      await theirs.store.admit({
        ...{ to: { sessionId: sessionId('a') }, source: 'ann', key: 'big' },
        ...{ lane: 'control', control: 'pin', body: { name: 'big', text: 'x' }, tokens: 150 },
      })
      await theirs.run(500)
    })
    const now = wanted('ours', { ...LIMITS, pinTokens: 100 })
    const ours = host({ wanted: () => now })
    await ours.store.importSession(lines)
    await say(ours.store, id, 'hello')
    await ours.run(5_000)
    expect(systemsOf(ours)).toEqual([])
    expect(ours.sent).toEqual([expect.stringContaining('The pins of this session leave no room')])
    await ask(ours.store, id, 'pin', { name: 'big', text: null })
    await say(ours.store, id, 'and now?')
    await ours.run(5_000)
    expect(systemsOf(ours)).toEqual(['ours'])
    expect(ours.crashes).toEqual([])
  })
})

describe('memory', () => {
  it('that is pinned between turns waits for the end of the turn, other pins do not', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    const { answer, resolve } = held()
    process.model.answer = answer
    await say(process.store, id, 'hello')
    await process.run(500)
    await ask(process.store, id, 'pin', { name: 'memory', text: 'note', when: 'between-turns' })
    await ask(process.store, id, 'pin', { name: 'rule', text: 'be brief' })
    await process.run(2_000)
    expect(Object.keys((await rowOf(process.store, id)).pins)).toEqual(['rule'])
    resolve(says('ok'))
    await process.run(500)
    expect(Object.keys((await rowOf(process.store, id)).pins)).toEqual(['rule', 'memory'])
    expect((await rowOf(process.store, id)).pending.control).toBe(0)
  })
})

describe('an erasure', () => {
  it('during a turn removes the words, and the turn is answered', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await say(process.store, id, 'the secret is BASALT')
    await process.run(500)
    const { answer, resolve } = held()
    process.model.answer = answer
    await say(process.store, id, 'hello')
    await process.run(500)
    await ask(process.store, id, 'erase', { entries: [1], reason: 'asked for' })
    await process.run(500)
    const [erased] = await process.store.readEntries({
      sessionId: id,
      from: 1 as never,
      to: 1 as never,
    })
    expect(erased?.body).toBeNull()
    expect(await rowOf(process.store, id)).toMatchObject({ turnState: 'running' })
    resolve(says('still here'))
    await process.run(500)
    expect(process.sent.at(-1)).toBe('a: {"text":"still here"}')
    process.model.answer = async () => says('ok')
    await say(process.store, id, 'and now?')
    await process.run(500)
    expect(process.model.last.join('\n')).not.toContain('BASALT')
    expect(await process.store.verify({})).toEqual([])
  })

  it('of words in a handoff replaces the handoff, and no request is refused', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    const shown = () => JSON.stringify(process.model.shown.at(-1)?.context)
    await fill(process, id, 9)
    await say(process.store, id, 'the secret is BASALT')
    await process.run(500)
    const { tail } = await rowOf(process.store, id)
    await fill(process, id, 2)
    await ask(process.store, id, 'compact')
    await process.run(500)
    expect((await rowOf(process.store, id)).covers).toBeGreaterThanOrEqual(tail)
    await say(process.store, id, 'hello')
    await process.run(500)
    expect(shown()).toContain('BASALT')
    // The message, its answer and the end of its turn.
    await ask(process.store, id, 'erase', { entries: [tail - 2] })
    await ask(process.store, id, 'erase', { entries: [tail - 1] })
    await process.run(2_000)
    expect((await rowOf(process.store, id)).pending.control).toBe(0)
    await say(process.store, id, 'and now?')
    await process.run(500)
    expect(shown()).not.toContain('BASALT')
    expect(await process.store.verify({})).toEqual([])
  })

  it('whose request is withdrawn while its handoff is written does not delay others', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id)
    await ask(process.store, id, 'compact')
    await process.run(500)
    await ask(process.store, id, 'erase', { entries: [1] })
    const [mail] = await process.store.listMail({
      ...{ sessionId: id, lane: 'control', state: 'pending', limit: 1 },
    })
    process.runner.wake(id)
    if (mail !== undefined) await process.store.withdraw({ sessionId: id, mail: mail.number })
    await process.run(500)
    await ask(process.store, id, 'erase', { entries: [2] })
    await process.run(2_000)
    expect((await rowOf(process.store, id)).pending.control).toBe(0)
  })
})
