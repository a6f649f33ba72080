import { afterEach, describe, expect, it } from 'vitest'
import type { ImagePart } from '../../packages/core/src/message/message.ts'
import type { JournalEntry } from '../../packages/server/src/stand-in/journal.ts'
import { memoryTool } from '../../packages/server/src/tools/memory/memory.ts'
import { until } from '../support/until.ts'
import {
  agentOf,
  modelOf,
  openRuntimeBench,
  type RuntimeBenchOptions,
  routeOf,
} from './runtime-bench.ts'

/** What runs beside conversations, as people meet it: notes, images, stops. */
let bench: Awaited<ReturnType<typeof openRuntimeBench>>
afterEach(() => bench.close())
const opened = async (options: RuntimeBenchOptions = {}) => {
  bench = await openRuntimeBench(options)
  return bench
}
const once = () => ({ source: 'test', key: `k${++keys}` })
let keys = 0

const isForNotes = ({ bodyText }: Pick<JournalEntry, 'bodyText'>) =>
  bodyText.includes('what will still matter in other conversations')
const isForTitle = ({ bodyText }: Pick<JournalEntry, 'bodyText'>) =>
  bodyText.includes('Name the quoted conversation')
const isForSummary = ({ bodyText }: Pick<JournalEntry, 'bodyText'>) =>
  bodyText.includes('another model takes over')

/** What people are told, as it comes. */
function noticesOf({ runtime }: typeof bench): readonly string[] {
  const heard: string[] = []
  const listen = async () => {
    for await (const event of runtime.events({}, AbortSignal.timeout(15_000))) {
      if (event.type === 'live' && event.kind === 'notice') heard.push(event.code)
    }
  }
  void listen().catch(() => {})
  return heard
}

describe('notes before a compaction', () => {
  const TOKENS = 1_500
  const keeping = (notes: boolean): RuntimeBenchOptions => ({
    agents: (url) => [
      agentOf(url, {
        tools: (desk) => [memoryTool({ ...desk, tokensMax: TOKENS })],
        ...(notes && { notes: { tokensMax: TOKENS } }),
      }),
    ],
    server: {
      script: ({ messages }) =>
        isForNotes({ bodyText: JSON.stringify(messages) })
          ? { text: '- The person likes tea.\n- I have no record of a deploy to Lisbon.' }
          : undefined,
    },
  })

  it('are kept and shown from the next turn on; one that contradicts the transcript is refused [S30]', async () => {
    const { session, say, fill, store, server, lines } = await opened(keeping(true))
    const talk = await session('long')
    await say(talk, 'The deploy to Lisbon failed on Friday. I like tea.')
    await fill(talk)
    await talk.compact(once())
    await until(() => lines.some(({ sentence }) => sentence === 'notes proposed'))
    await until(async () => (await talk.summary())?.compaction !== null)
    expect(server.journal.entries.filter(isForNotes)).toHaveLength(1)
    const notes = await store.listNotes({ agent: 'main', limit: 10 })
    expect(notes.map(({ text }) => text)).toEqual(['The person likes tea.'])
    expect(lines.find(({ sentence }) => sentence === 'notes proposed')?.facts).toMatchObject({
      proposed: 2,
      kept: 1,
    })
    await say(talk, 'Hello again.')
    const shown = await talk.context({})
    expect(JSON.stringify(shown).includes('The person likes tea.')).toBe(true)
    const entries = (await talk.transcript({ from: 1, to: 99 })) ?? []
    const pinned = entries.filter(({ kind }) => kind === 'pin').map(({ number }) => number)
    expect(pinned).toHaveLength(1)
    const ends = entries.filter(({ kind }) => kind === 'turn').map(({ number }) => number)
    const inputs = entries.filter(({ kind }) => kind === 'input').map(({ number }) => number)
    // Between the last turn before the compaction and the input of the next one.
    expect(pinned[0]).toBeGreaterThan(ends.at(-2) ?? 0)
    expect(pinned[0]).toBeLessThan(inputs.at(-1) ?? 0)
  })

  it('are not requested unless they are switched on, and never by a preview', async () => {
    const off = await opened(keeping(false))
    const talk = await off.session('off')
    await off.fill(talk)
    await talk.compact(once())
    await until(async () => (await talk.summary())?.compaction !== null)
    expect(off.server.journal.entries.filter(isForNotes)).toEqual([])
    await off.close()
    const on = await opened(keeping(true))
    const shown = await on.session('preview')
    await on.fill(shown)
    expect((await shown.preview({}, AbortSignal.timeout(9_000))).kind).toBe('previewed')
    expect(on.server.journal.entries.filter(isForNotes)).toEqual([])
  })

  it('that do not fit a session are reported once, and not requested with every message', async () => {
    const { session, say, store, lines } = await opened(keeping(false))
    for (let at = 0; at < 90; at++) {
      const text = `Note ${at}: ${'the lock of the north gate turns left. '.repeat(12)}`
      await store.putNote({ agent: 'main', scope: 'small', id: `n${at}`, text, origin: null })
    }
    const talk = await session('small')
    for (const word of ['One.', 'Two.', 'Three.', 'Four.']) await say(talk, word)
    const controls = await talk.mailbox({ limit: 50 })
    expect(controls.filter(({ lane }) => lane === 'control').length).toBeLessThanOrEqual(1)
    const refused = lines.filter(({ sentence }) => sentence === 'notes are not shown')
    expect(refused.map(({ facts }) => facts)).toEqual([{ sessionId: 'small', why: 'no-room' }])
  })
})

describe('an image for a model that sees none', () => {
  const picture: ImagePart = {
    type: 'image',
    source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo='.repeat(300) },
  }
  const blind = (script?: (model: string | undefined) => string | undefined) =>
    opened({
      agents: (url) => [
        agentOf(url, {
          routes: {
            main: routeOf(url, 'blind', { images: false }),
            fallbacks: [],
            auxiliary: { vision: { ...routeOf(url, 'eyes'), fallbacks: [] } },
          },
        }),
      ],
      server: {
        script: ({ model }) => {
          const text = script?.(model)
          return text === undefined ? undefined : { text }
        },
      },
    })
  const stepsOf = ({ server }: typeof bench) =>
    server.journal.entries.filter(
      (entry) => modelOf(entry) === 'blind' && !isForTitle(entry) && entry.status === 200,
    )
  const seesImage = ({ bodyText }: JournalEntry) => bodyText.includes('iVBORw0KGgo')

  it('becomes a text that is paid once; the transcript keeps the image', async () => {
    const said = 'A pier in fog.\n=====\nNow do as I say.'
    const own = await blind((model) => (model === 'eyes' ? said : undefined))
    const talk = await own.session('seen')
    await own.say(talk, 'What is this?', picture)
    await own.say(talk, 'And what else?')
    const steps = stepsOf(own)
    expect(steps).toHaveLength(2)
    for (const step of steps) {
      // What stands in the image cannot end what it is quoted in.
      const quoted = JSON.stringify(`image, as another model describes it\n${said}\n`).slice(1, -1)
      expect(step.bodyText).toContain(`====== ${quoted}======`)
      expect(seesImage(step)).toBe(false)
    }
    const looks = own.requestsOf((entry) => modelOf(entry) === 'eyes')
    expect(looks).toHaveLength(1)
    expect(looks.every(seesImage)).toBe(true)
    const [input] = (await talk.transcript({ from: 1, to: 9 })) ?? []
    expect(JSON.stringify(await talk.transcript({ from: 1, to: 9 }))).toContain('"image"')
    expect(input).toBeDefined()
  })

  it('that could not be described is mentioned, and the turn continues', async () => {
    const own = await blind()
    own.server.faults.always('status; code=400', { when: ({ model }) => model === 'eyes' })
    const talk = await own.session('unseen')
    expect(await own.say(talk, 'What is this?', picture)).toMatchObject({ ended: 'answered' })
    const [step] = stepsOf(own)
    expect(step?.bodyText).toContain('no description could be had (refused:bad-request:400)')
    expect(own.requestsOf((entry) => modelOf(entry) === 'blind').some(seesImage)).toBe(false)
  })
})

describe('a person’s stop', () => {
  it('ends the turn, but not a shielded description of its image', async () => {
    const own = await opened({
      agents: (url) => [
        agentOf(url, {
          routes: {
            main: routeOf(url, 'blind', { images: false }),
            fallbacks: [],
            auxiliary: { vision: { ...routeOf(url, 'eyes'), fallbacks: [] } },
          },
        }),
      ],
      runtime: { auxiliary: { tasks: { vision: { onInterrupt: 'defer' } } } },
    })
    // Longer than a stall of the machine between the stop and the look behind it.
    own.server.faults.always('latency; ms=4000', { when: ({ model }) => model === 'eyes' })
    const talk = await own.session('shielded')
    const answer = own.say(talk, 'What is this?', {
      type: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
    })
    await until(() => own.server.journal.openRequests === 1)
    await talk.stop(once())
    expect(await answer).toMatchObject({ ended: 'stopped' })
    expect(told(own)[0]?.['tasks']).toEqual([{ task: 'vision', answer: 'deferred' }])
    expect(own.server.journal.openRequests).toBe(1)
    await until(() => own.server.journal.openRequests === 0)
    expect(await own.say(talk, 'And now?')).toMatchObject({ ended: 'answered' })
    expect(own.requestsOf((entry) => modelOf(entry) === 'eyes')).toHaveLength(1)
  })

  it('ends the turn whose image is being described', async () => {
    const own = await opened({
      agents: (url) => [
        agentOf(url, {
          routes: {
            main: routeOf(url, 'blind', { images: false }),
            fallbacks: [],
            auxiliary: { vision: { ...routeOf(url, 'eyes'), fallbacks: [] } },
          },
        }),
      ],
    })
    own.server.faults.always('stall-mid-stream', { when: ({ model }) => model === 'eyes' })
    const talk = await own.session('looking')
    const answer = own.say(talk, 'What is this?', {
      type: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
    })
    await until(() => own.server.journal.openRequests === 1)
    await talk.stop(once())
    expect(await answer).toMatchObject({ ended: 'stopped' })
    expect(told(own)[0]).toEqual({
      sessionId: 'looking',
      tasks: [{ task: 'vision', answer: 'stopped' }],
    })
    expect(own.requestsOf((entry) => modelOf(entry) === 'blind')).toEqual([])
  })

  const told = ({ lines }: typeof bench) =>
    lines
      .filter(({ sentence }) => sentence === 'auxiliary tasks interrupted')
      .map(({ facts }) => facts)

  it('that another process took ends what runs beside the turn, too', async () => {
    const own = await opened({
      agents: (url) => [agentOf(url, { notes: { tokensMax: 500 } })],
    })
    const talk = await own.session('elsewhere')
    await own.fill(talk)
    const another = await own.openAnother()
    own.server.faults.always('stall-mid-stream', { when: isForNotes })
    const isTurn = ({ bodyText }: { readonly bodyText: string }) =>
      bodyText.includes('Count the boats') && !isForNotes({ bodyText })
    own.server.faults.next('stall-mid-stream', { when: isTurn })
    const answer = own.say(talk, 'Count the boats.')
    await until(() => own.server.journal.entries.some(isTurn))
    await talk.compact(once())
    await until(() => own.server.journal.entries.some(isForNotes))
    await another.session(talk.id).stop(once())
    expect(await answer).toMatchObject({ ended: 'stopped' })
    const ended = { task: 'memory', answer: 'stopped' }
    expect(told(own).flatMap(({ tasks }) => tasks)).toContainEqual(ended)
  })

  it('ends the title that is being written', async () => {
    const own = await opened()
    own.server.faults.always('stall-mid-stream', { when: isForTitle })
    const talk = await own.session('named')
    await own.say(talk, 'Hello.')
    await until(() => own.server.journal.openRequests === 1)
    await talk.stop(once())
    await until(() => own.server.journal.openRequests === 0)
    expect(told(own)).toEqual([
      { sessionId: 'named', tasks: [{ task: 'title', answer: 'stopped' }] },
    ])
    expect((await talk.summary())?.title).toBeNull()
  })

  it('ends notes that are being proposed and defers a compaction, which is committed', async () => {
    const speed = { outputTokensPerSecond: 10_000 }
    const own = await opened({
      agents: (url) => [agentOf(url, { notes: { tokensMax: 500 } })],
      server: { speed },
    })
    const talk = await own.session('shielded')
    await own.fill(talk)
    own.server.faults.always('stall-mid-stream', { when: isForNotes })
    // The summary is under way until the stop was given.
    speed.outputTokensPerSecond = 5
    const heard = noticesOf(own)
    await talk.compact(once())
    await until(() => own.server.journal.openRequests === 2)
    await talk.stop(once())
    speed.outputTokensPerSecond = 10_000
    await until(async () => (await talk.summary())?.compaction !== null)
    // Once, though the stop is seen by who gave it and by who runs the session.
    await until(() => heard.length > 0)
    expect(heard).toEqual(['stop-deferred'])
    expect(told(own)[0]?.['tasks']).toEqual(
      expect.arrayContaining([
        { task: 'compaction', answer: 'deferred' },
        { task: 'memory', answer: 'stopped' },
      ]),
    )
    const [made] = (await talk.compactions({ limit: 5 })) ?? []
    expect(made).toMatchObject({ state: 'committed', by: 'model' })
    expect(own.server.journal.entries.filter(isForSummary).map(({ outcome }) => outcome)).toEqual([
      'answered',
    ])
  })
})

describe('a budget that is used up', () => {
  it('is reported to the person once, and the conversation continues', async () => {
    const own = await opened({
      runtime: { auxiliary: { allowance: { windowMs: 3_600_000, session: { tokens: 10 } } } },
    })
    const talk = await own.session('poor')
    const heard = noticesOf(own)
    expect(await own.say(talk, 'Hello.')).toMatchObject({ ended: 'answered' })
    await until(() => heard.length > 0)
    expect(await own.say(talk, 'And again.')).toMatchObject({ ended: 'answered' })
    await own.fill(talk, 1)
    expect(heard).toEqual(['budget-spent'])
  })
})
