import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '#core/base/ids'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import { warningIn } from '#core/session/events/runtime-event'
import { mailOf, open, say, soon } from '../../../../test/support/runtime-place.ts'
import { until } from '../../../../test/support/until.ts'
import type { Agent } from './agent.ts'

describe('a runtime', () => {
  it('answers an admitted message, and has the answer in the transcript', async () => {
    const { runtime } = await open()
    const created = await runtime.createSession({ agent: 'main', id: 'first' })
    expect(created).toEqual({ kind: 'created', sessionId: 'first' })
    const session = runtime.session(sessionId('first'))
    const admission = await session.admit(say('The code word is BASALT.', '1'))
    expect(admission).toMatchObject({ kind: 'admitted', mail: 1 })
    const reply = await session.reply(mailOf(admission), soon())
    expect(reply).toMatchObject({ ended: 'answered', turn: 1 })
    const again = await session.admit(say('What was the code word?', '2'))
    expect((await session.reply(mailOf(again), soon()))?.text).toContain('BASALT')
    const entries = await session.transcript({ from: 1, to: 100 })
    expect(entries?.map((entry) => entry.kind)).toEqual([
      ...['settings', 'input', 'assistant', 'turn', 'input', 'assistant', 'turn'],
    ])
  })

  it('accepts a key once, and refuses it with another body', async () => {
    const { runtime } = await open()
    await runtime.createSession({ agent: 'main', id: 'once' })
    const session = runtime.session(sessionId('once'))
    await session.admit(say('Hello.', 'k'))
    expect(await session.admit(say('Hello.', 'k'))).toMatchObject({ kind: 'duplicate', mail: 1 })
    expect(await session.admit(say('Other.', 'k'))).toMatchObject({ kind: 'conflict' })
  })

  it('treats a key that another session used as new, so that the message is not lost', async () => {
    const { runtime } = await open()
    const [one, other] = ['key-a', 'key-b'].map((id) => runtime.session(sessionId(id)))
    for (const id of ['key-a', 'key-b']) await runtime.createSession({ agent: 'main', id })
    await one?.admit(say('Hello.', 'k'))
    const conflict = { kind: 'conflict', sessionId: 'key-a', mail: 1 }
    expect(await other?.admit(say('Hello.', 'k'))).toEqual(conflict)
    await one?.compact({ source: 'test', key: 'c' })
    expect(await other?.compact({ source: 'test', key: 'c' })).toMatchObject({ kind: 'conflict' })
    expect(await other?.mailbox({ limit: 9 })).toEqual([])
  })

  it('creates one session per route, and a new one on request', async () => {
    const { runtime } = await open()
    const route = { agent: 'main', channel: 'test', address: 'room' }
    const [a, b] = await Promise.all([
      runtime.admit({ ...route, ...say('One.', '1') }),
      runtime.admit({ ...route, ...say('Two.', '2') }),
    ])
    expect(a).toMatchObject({ kind: 'admitted' })
    expect('sessionId' in a && 'sessionId' in b && a.sessionId === b.sessionId).toBe(true)
    const fresh = await runtime.startAfresh({ ...route, source: 'test', key: 'new' })
    expect(fresh.kind).toBe('started')
    const repeated = await runtime.startAfresh({ ...route, source: 'test', key: 'new' })
    expect(repeated).toEqual({ ...fresh, kind: 'duplicate' })
    expect(await runtime.findRoute(route)).toBe('sessionId' in fresh ? fresh.sessionId : '')
  })

  it('streams deltas under their attempt, and stored events with cursors', async () => {
    const { runtime } = await open()
    await runtime.createSession({ agent: 'main', id: 'live' })
    const session = runtime.session(sessionId('live'))
    const seen: RuntimeEvent[] = []
    const stop = new AbortController()
    const listening = (async () => {
      for await (const event of session.events({ after: 0 }, stop.signal)) {
        seen.push(event)
        if (event.type === 'stored' && event.kind === 'turn ended') stop.abort()
      }
    })()
    await session.admit(say('Hello.', '1'))
    await listening
    const deltas = seen.flatMap((e) => (e.type === 'live' && e.kind === 'delta' ? [e] : []))
    expect(deltas.length).toBeGreaterThan(0)
    expect(
      new Set(deltas.map(({ turn, step, attempt }) => `${turn} ${step} ${attempt}`)).size,
    ).toBe(1)
    const cursors = seen.flatMap((e) => (e.type === 'stored' ? [e.cursor] : []))
    expect(cursors).toEqual([...new Set(cursors)].sort((x, y) => x - y))
  })

  it('starts a listener whose cursor is past the end with the next events', async () => {
    const { runtime } = await open()
    await runtime.createSession({ agent: 'main', id: 'far' })
    const session = runtime.session(sessionId('far'))
    const kinds: string[] = []
    const far = { after: Number.MAX_SAFE_INTEGER }
    for await (const event of session.events(far, soon())) {
      if (event.type === 'caught-up') await session.admit(say('Hello.', '1'))
      if (event.type !== 'stored') continue
      kinds.push(event.kind)
      if (event.kind === 'message admitted') break
    }
    expect(kinds).toEqual(['message admitted'])
  })

  it('compacts on request, shows the context of a step, and reverts', async () => {
    const { runtime } = await open()
    await runtime.createSession({ agent: 'main', id: 'long' })
    const session = runtime.session(sessionId('long'))
    for (let n = 1; n <= 6; n++) {
      const text = `Fact ${n}: ${'the river is wide and slow here. '.repeat(120)}`
      await session.reply(mailOf(await session.admit(say(text, `m${n}`))), soon())
    }
    const before = await session.context({})
    await session.compact({ source: 'test', key: 'compact' })
    await until(async () => (await session.summary())?.compaction !== null)
    const after = await session.context({})
    expect(after?.tokens).toBeLessThan(before?.tokens ?? 0)
    expect(after?.parts.map((part) => part.kind)).toContain('summary')
    const [made] = (await session.compactions({ limit: 10 })) ?? []
    expect(made).toMatchObject({ state: 'committed', isInEffect: true, by: 'model' })
    const early = await session.context({ at: entryNumber(3) })
    expect(early?.parts.some((part) => part.kind === 'summary')).toBe(false)
    await session.revert({ source: 'test', key: 'revert' })
    await until(async () => (await session.summary())?.compaction === null)
    expect((await session.context({}))?.tokens).toBe(before?.tokens)
  })

  it('warns of repeated compaction from the second one on, once each, or as configured [S14]', async () => {
    const warned: (string | null)[][] = []
    for (const warnFrom of [undefined, 3, 0]) {
      const { runtime, agent } = await open()
      if (warnFrom !== undefined) {
        runtime.reconfigure([{ ...agent, settings: { ...agent.settings, warnFrom } }])
      }
      await runtime.createSession({ agent: 'main', id: 'often' })
      const session = runtime.session(sessionId('often'))
      const told: (string | null)[] = []
      const { signal } = new AbortController()
      const heard = (async () => {
        for await (const event of session.events({ after: 0 }, signal)) {
          if (event.type !== 'stored' || event.kind !== 'compaction committed') continue
          if (told.push(warningIn(event)) === 3) return
        }
      })()
      for (let n = 1; n <= 3; n++) {
        for (const part of ['a', 'b', 'c']) {
          const text = `Fact ${n}${part}: ${'the river is wide and slow here. '.repeat(120)}`
          await session.reply(mailOf(await session.admit(say(text, `${n}${part}`))), soon())
        }
        await session.compact({ source: 'test', key: `compact ${n}` })
        await until(async () => told.length === n)
      }
      await heard
      const made = (await session.compactions({ limit: 10 })) ?? []
      expect(made.map(({ warning }) => warning).reverse()).toEqual(told)
      warned.push(told.map((text) => /compacted (\d+) times/.exec(text ?? '')?.[1] ?? null))
    }
    expect(warned).toEqual([
      [null, '2', '3'],
      [null, null, '3'],
      [null, null, null],
    ])
  })

  it('applies changed settings between two turns, as an entry', async () => {
    const { runtime, agent } = await open()
    await runtime.createSession({ agent: 'main', id: 'told' })
    const session = runtime.session(sessionId('told'))
    await session.reply(mailOf(await session.admit(say('Hello.', '1'))), soon())
    runtime.reconfigure([{ ...agent, system: 'You answer in verse.' }])
    await session.reply(mailOf(await session.admit(say('And now?', '2'))), soon())
    expect((await session.context({}))?.parts[0]?.text).toBe('You answer in verse.')
    expect((await session.context({ at: entryNumber(3) }))?.parts[0]?.text).toBe(agent.system)
  })

  it('keeps a message while the model is down, says so once, and answers when it is back', async () => {
    const { runtime, model, url } = await open({ settings: { modelRetryMs: 100 } })
    await runtime.createSession({ agent: 'main', id: 'down' })
    const session = runtime.session(sessionId('down'))
    await model.stop()
    const notices: string[] = []
    const stop = new AbortController()
    const listen = async (heard: string[]) => {
      for await (const event of session.events({}, stop.signal)) {
        if (event.type === 'live' && event.kind === 'notice' && !event.isUpdate)
          heard.push(event.code)
      }
    }
    const listening = [listen(notices)]
    const admission = await session.admit(say('Are you there?', '1'))
    await until(async () => (await session.summary())?.state === 'waiting-for-model')
    // This listener subscribes after the notice was sent.
    const later: string[] = []
    listening.push(listen(later))
    await until(async () => later.length > 0)
    await model.start(Number(new URL(url).port))
    expect(await session.reply(mailOf(admission), soon())).toMatchObject({ ended: 'answered' })
    const afterwards: string[] = []
    listening.push(listen(afterwards))
    await session.reply(mailOf(await session.admit(say('Good.', '2'))), soon())
    stop.abort()
    await Promise.all(listening)
    expect([notices, later, afterwards]).toEqual([['waiting-for-model'], ['waiting-for-model'], []])
  })

  it('purges entries for good, including from the handoff in effect', async () => {
    const { runtime } = await open()
    await runtime.createSession({ agent: 'main', id: 'purged' })
    const session = runtime.session(sessionId('purged'))
    const filler = 'the river is wide and slow here. '.repeat(120)
    for (const [n, text] of ['The boat is called QUARTZ-77.', filler, filler, filler].entries()) {
      await session.reply(mailOf(await session.admit(say(text, `m${n}`))), soon())
    }
    await session.compact({ source: 'test', key: 'c' })
    await until(async () => (await session.summary())?.compaction !== null)
    expect(JSON.stringify(await session.context({}))).toContain('QUARTZ-77')
    const entries = (await session.transcript({ from: 1, to: 50 })) ?? []
    const told = entries
      .filter((entry) => JSON.stringify(entry).includes('QUARTZ-77'))
      .filter(({ kind }) => kind !== 'compaction')
    await session.purge({ entries: told.map(({ number }) => number), reason: 'asked' })
    await until(async () => !JSON.stringify(await session.context({})).includes('QUARTZ-77'))
    expect(JSON.stringify(await session.transcript({ from: 1, to: 99 }))).not.toContain('QUARTZ')
    expect(await session.search({ text: 'QUARTZ', limit: 5, neighbours: 0 })).toEqual({
      found: [],
      total: 0,
    })
  })

  it('gives up starting a new session when others keep moving the route, with a retryable error', async () => {
    let attempts = 0
    const { runtime } = await open({
      seams: {
        store: (store) => ({
          ...store,
          startAfresh: async () => {
            attempts++
            return { kind: 'route-changed', version: attempts }
          },
        }),
      },
    })
    const route = { agent: 'main', channel: 'test', address: 'busy' }
    const started = runtime.startAfresh({ ...route, source: 'test', key: 'new' })
    await expect(started).rejects.toMatchObject({ code: 'route-busy', retryable: true })
    expect(attempts).toBeLessThan(100)
  })

  it('reports an unknown session instead of returning an empty list', async () => {
    const { runtime } = await open()
    const nobody = runtime.session(sessionId('nobody'))
    await expect(nobody.mailbox({ limit: 5 })).rejects.toMatchObject({ code: 'unknown-session' })
    const query = { text: 'x', limit: 5, neighbours: 0 }
    await expect(nobody.search(query)).rejects.toMatchObject({ code: 'unknown-session' })
  })

  it('shows a past context with the limits of that time', async () => {
    const { runtime, agent } = await open()
    await runtime.createSession({ agent: 'main', id: 'then' })
    const session = runtime.session(sessionId('then'))
    await session.reply(mailOf(await session.admit(say('Hello.', '1'))), soon())
    const { main } = agent.routes
    const routes = { ...agent.routes, main: { ...main, windowTokens: 32_000 } }
    runtime.reconfigure([{ ...agent, routes }])
    await session.reply(mailOf(await session.admit(say('And now?', '2'))), soon())
    const now = await session.context({})
    expect([now?.windowTokens, now?.softTokens]).toEqual([32_000, expect.any(Number)])
    const then = await session.context({ at: entryNumber(3) })
    expect([then?.windowTokens, then?.softTokens]).toEqual([16_000, null])
    expect(then?.hardTokens).toBeLessThan(16_000)
  })

  it('refuses agents as a whole: if one does not fit, no server starts and no agent changes', async () => {
    const { runtime, agent } = await open()
    const asked: (string | undefined)[] = []
    const server = createServer((request, response) => {
      asked.push(request.url)
      response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const withServer = (name: string): Agent => {
      const terms = { headers: {}, startMs: 10_000, callMs: 10_000 }
      const address = {
        kind: 'address',
        url: `http://127.0.0.1:${port}/${name}`,
        ...terms,
      } as const
      return { ...agent, name, mcp: { one: address } }
    }
    const vast = { ...agent, system: 'word '.repeat(40_000) }
    expect(() => runtime.reconfigure([withServer('refused'), vast])).toThrow(/leaves/)
    expect(runtime.agents.map(({ name }) => name)).toEqual(['main'])
    // A server started before this one would have reported before it.
    runtime.reconfigure([withServer('taken')])
    await until(async () => asked.includes('/taken'))
    expect(asked).not.toContain('/refused')
    server.close()
  })
})
