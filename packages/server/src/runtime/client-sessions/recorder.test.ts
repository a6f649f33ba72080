import { describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { sessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import { SILENT } from '#core/base/logger'
import { openMemoryStore } from '#core/store/memory/open'
import type { SettingsMeta } from '#core/store/tables/rows'
import {
  Client,
  compacted,
  compactions,
  entries,
  ID,
  kinds,
  LONG,
  opened,
  recorder,
  replyEvents,
  WINDOW,
} from '../../../../../test/clients/recorded-client.ts'
import { until } from '../../../../../test/support/until.ts'
import { openRuntime } from '../open-runtime.ts'
import { purge } from '../store-layers/purge.ts'
import { Recorder } from './recorder.ts'
import { handoffForClient } from './whole-handoff.ts'

const CLAUDE_SUMMARY =
  'This session is being continued from a previous conversation that ran out of context.'

const KEY = `sk-ant-api03-${'Ab3x'.repeat(20)}`

describe('Recorder', () => {
  it.each([
    ['claude-x', {}, 200_000],
    ['claude-x', { 'anthropic-beta': 'context-1m-2025-08-07' }, 1_000_000],
    ['some-model', {}, 128_000],
  ])('states the window of %s with %o', async (model, headers, windowTokens) => {
    const store = openMemoryStore()
    const made = new Recorder({ store, clock: systemClock, logger: SILENT })
    opened.push(made)
    const messages = [{ role: 'user', content: 'Hello.' }]
    const body = Buffer.from(JSON.stringify({ model, messages, tools: [{ name: 'Bash' }] }))
    const named = { 'x-claude-code-session-id': 's1', ...headers }
    await made.begin({ path: '/v1/messages', headers: named, body, launch: null })
    expect((await store.findSession(ID))?.limits.hardTokens).toBe(windowTokens)
  })

  it('records a conversation that has a deeply nested call', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    const input = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`) as JsonObject
    client.messages.push({ role: 'user', content: [{ type: 'text', text: 'Look.' }] })
    const passage = await client.ask()
    const use = { type: 'tool_use', id: 't', name: 'Bash', input }
    passage.take({ type: 'message', content: [use], usage: { input_tokens: 9 } })
    await passage.end()
    client.messages.push(
      { role: 'assistant', content: [use] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'Done.' }] },
    )
    await client.turn('And now?', 'All is well.')
    const texts = (await entries(store)).map(({ body }) => String(body))
    expect(texts.filter((text) => text.includes('All is well.'))).toHaveLength(1)
    expect(texts.filter((text) => text.includes('[nested too deep]'))).toHaveLength(1)
  })

  it('says once that it assumes the window of an unknown model', async () => {
    const said: object[] = []
    const logger = { ...SILENT, warn: (facts: object) => said.push(facts) } as never
    const request = { path: '/v1/messages', launch: null, headers: {} }
    const ask = async (made: Recorder, model: string) => {
      const messages = [{ role: 'user', content: 'Hello.' }]
      const body = Buffer.from(JSON.stringify({ model, messages, tools: [{ name: 'Bash' }] }))
      await made.begin({ ...request, body })
    }
    const make = (window: object) =>
      new Recorder({ store: openMemoryStore(), clock: systemClock, logger, ...window })
    const made = make({})
    const given = make({ windowTokens: WINDOW })
    opened.push(made, given)
    for (const model of ['some-model', 'claude-x', 'some-model']) await ask(made, model)
    await ask(given, 'some-model')
    expect(said).toEqual([{ model: 'some-model', windowTokens: 128_000 }])
  })

  it.each([
    ['is cut off', (events: readonly JsonObject[]) => events.slice(0, -1), 'open'],
    ['is complete', (events: readonly JsonObject[]) => events, 'answered'],
  ])('hands a request on as its answer %s', async (_, arrived, state) => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await client.turn('First', 'Yes')
    client.messages.push({ role: 'user', content: [{ type: 'text', text: 'Tell me a tale.' }] })
    const passage = await client.ask()
    for (const event of arrived(replyEvents('Once upon', 10))) passage.take(event)
    await passage.end()
    const handoff = await handoffForClient(store, ID, 200_000)
    expect(handoff?.text).toMatch(new RegExp(`${state}[^]{0,40}Tell me a tale`))
    expect((await entries(store)).at(-1)?.body).toContain('Once upon')
  })

  it('counts system text and tools with the handoff that a client is left with', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store, { windowTokens: 200_000 }))
    client.tools = [{ name: 'Bash', description: 'x'.repeat(40_000) }]
    await client.turn('The code word is heron.', 'Noted.')
    const handoff = await handoffForClient(store, ID, 200_000)
    expect(handoff?.text.length).toBeLessThan(4_000)
    expect(handoff?.tokens).toBeGreaterThan(10_000)
    expect(handoff?.tokens).toBeLessThan(12_000)
  })

  it('records a long history in pieces, and no reply in two', async () => {
    const store = openMemoryStore()
    const adopt = store.adoptEntries.bind(store)
    const sizes: number[] = []
    store.adoptEntries = (request) => {
      sizes.push(JSON.stringify(request.entries).length)
      return adopt(request)
    }
    const client = new Client(recorder(store, { windowTokens: 10_000_000 }))
    const say = (role: string, text: string) => ({ role, content: [{ type: 'text', text }] })
    for (let at = 0; at < 30; at += 1) {
      client.messages.push(say('user', `Question ${at}.`))
      // One reply, as some clients send it: in two messages. The first one ends a piece.
      const first = say('assistant', `Part one of ${at}. ${'x'.repeat(240_000)}`)
      client.messages.push(first, say('assistant', 'Part two.'))
    }
    client.messages.push(say('user', 'The last.'))
    await client.ask()
    expect(sizes.length).toBeGreaterThan(2)
    expect(Math.max(...sizes)).toBeLessThan(2_500_000)
    const recorded = (await kinds(store)).filter((kind) => kind !== 'settings')
    expect(recorded).toHaveLength(30 * 2 + 1)
    await client.ask()
    expect((await kinds(store)).filter((kind) => kind !== 'settings')).toEqual(recorded)
  })

  it('reads a message as often if its results are written in many pieces', async () => {
    const readsOf = async (count: number) => {
      const store = openMemoryStore()
      const client = new Client(recorder(store, { windowTokens: 10_000_000 }))
      const use = (at: number) => ({ type: 'tool_use', id: `t${at}`, name: 'Bash', input: {} })
      const result = (at: number) => ({
        type: 'tool_result',
        tool_use_id: `t${at}`,
        content: 'Done.',
      })
      const calls = Array.from({ length: count }, (_, at) => at)
      client.messages.push(
        { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
        { role: 'assistant', content: calls.map(use) },
        { role: 'user', content: calls.map(result) },
      )
      const parse = JSON.parse
      let reads = 0
      JSON.parse = (text, ...rest) => {
        if (String(text).startsWith('{"role":"user","content":[{"type":"tool_result"')) reads += 1
        return parse(text, ...rest)
      }
      try {
        await client.ask()
      } finally {
        JSON.parse = parse
      }
      expect((await kinds(store)).filter((kind) => kind === 'result')).toHaveLength(count)
      return reads
    }
    expect(await readsOf(900)).toBe(await readsOf(100))
  })

  it('counts the calls of the stand-in as free', async () => {
    const store = openMemoryStore()
    await new Client(recorder(store, { prices: 'free' })).turn('Hello', 'Yes')
    const [call] = await store.readAttempts({ sessionId: ID, since: 0, limit: 1 })
    expect(call).toMatchObject({ cost: 0, inputTokens: expect.any(Number) })
  })

  it('counts the cost of a call by the configured prices, including cached tokens', async () => {
    const store = openMemoryStore()
    const prices = { 'claude-x': { input: 3, output: 15, cacheRead: 1, cacheWrite: 4 } }
    const client = new Client(recorder(store, { prices }))
    client.messages.push({ role: 'user', content: [{ type: 'text', text: 'Hello' }] })
    const passage = await client.ask()
    const usage = {
      ...{ input_tokens: 10, output_tokens: 2 },
      ...{ cache_read_input_tokens: 100, cache_creation_input_tokens: 1_000 },
    }
    passage.take({ type: 'message_start', message: { usage } })
    await passage.end()
    const [call] = await store.readAttempts({ sessionId: ID, since: 0, limit: 1 })
    expect(call?.cost).toBe(10 * 3 + 2 * 15 + 100 + 1_000 * 4)
  })

  it('counts the usage of the client’s own compactions and side calls', async () => {
    const store = openMemoryStore()
    const made = recorder(store)
    const client = new Client(made)
    await client.turn('one', 'ok')
    const count = async () =>
      (await store.readAttempts({ sessionId: ID, since: 0, limit: 9 })).map(
        (call) => call.inputTokens,
      )
    const before = await count()
    const reply = (tokens: number) =>
      ({ type: 'message', content: [], usage: { input_tokens: tokens, output_tokens: 1 } }) as const
    const ask = async (tokens: number, body: object) => {
      const headers = { 'x-claude-code-session-id': 's1' }
      const bytes = Buffer.from(JSON.stringify({ model: 'claude-x', ...body }))
      const passage = await made.begin({ path: '/v1/messages', headers, body: bytes, launch: null })
      expect(Buffer.concat([...passage.send])).toEqual(bytes)
      passage.take(reply(tokens))
      await passage.end()
      return passage.purpose
    }
    const summarize = { role: 'user', content: 'CRITICAL: Respond with TEXT ONLY. Summarize.' }
    const messages = [...client.messages, summarize]
    expect(await ask(701, { messages, tools: [{ name: 'Bash' }] })).toBe('compaction')
    expect(await ask(702, { messages: [{ role: 'user', content: 'A title?' }] })).toBe('side')
    const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)
    expect(sorted(await count())).toEqual(sorted([...before, 701, 702]))
    expect((await entries(store)).map(({ body }) => String(body)).join()).not.toContain('TEXT ONLY')
  })

  it('forwards a request that needs no change byte for byte [proxy law 1]', async () => {
    const client = new Client(recorder(openMemoryStore()))
    for (const text of ['one', 'two', 'three']) {
      const before = client.messages.length
      const sent = await client.turn(text, 'ok')
      const own = client.messages.splice(before + 1)
      expect(sent).toBe(client.body().toString())
      client.messages.push(...own)
    }
  })

  it('stores every unit before it forwards the request [proxy law 4]', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    client.messages.push({ role: 'user', content: [{ type: 'text', text: 'one' }] })
    await client.ask()
    expect(await kinds(store)).toEqual(['settings', 'input'])
  })

  it('records a request once, however often it is sent [proxy law 5]', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    client.messages.push({ role: 'user', content: [{ type: 'text', text: 'one' }] })
    await Promise.all([client.ask(), client.ask(), client.ask()])
    await client.turn('two', 'ok')
    expect(await kinds(store)).toEqual(['settings', 'input', 'input', 'assistant'])
  })

  it('replaces the covered part by a handoff, with the same bytes from then on [proxy laws 2, 3]', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    const first = await compacted(client, store)
    const { messages } = JSON.parse(first) as { messages: JsonObject[] }
    expect(messages.length).toBeLessThan(client.messages.length)
    expect(JSON.stringify(messages[0])).toContain('[handoff ')
    // Another process on the same store: no part of the boundary was only in memory.
    const again = new Client(recorder(store))
    again.messages = client.messages
    const second = await again.turn('And', 'so on')
    const plain = (text: string) => text.replaceAll(',"cache_control":{"type":"ephemeral"}', '')
    const shared = plain(first).slice(0, plain(first).indexOf('],"tools"'))
    expect(shared.length).toBeGreaterThan(100)
    expect(plain(second).startsWith(shared)).toBe(true)
    expect(await store.verify({ sessionId: ID })).toEqual([])
  })

  it('keeps the last twentieth of the window beside a handoff', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    for (let at = 0; at < 100; at += 1) {
      await client.turn(`Question ${at}. ${'abcd '.repeat(40)}`, `Answer ${at}.`)
    }
    // The provider counts this request as the whole window, so a twentieth of its bytes stays.
    await client.turn('More', 'Yes', WINDOW)
    await until(async () => (await compactions(store)) > 0)
    const { length } = client.body()
    const sent = JSON.parse(await client.turn('Next', 'Done')) as { messages: JsonObject[] }
    const kept = JSON.stringify(sent.messages.slice(1, -1)).length / length
    expect(kept).toBeLessThan(0.05)
    expect(kept).toBeGreaterThan(0.04)
  })

  it('makes one handoff for one crossing of the threshold [proxy law 13]', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    for (let at = 0; at < 12; at += 1) await client.turn(`Question ${at}. ${LONG}`, `Answer ${at}.`)
    // Two concurrent requests, both over the threshold; one answer comes late.
    client.messages.push({ role: 'user', content: [{ type: 'text', text: 'late' }] })
    const late = await client.ask()
    client.messages.pop()
    await client.turn('More', 'Yes', WINDOW)
    await until(async () => (await compactions(store)) > 0)
    for (const event of replyEvents('late answer', WINDOW)) late.take(event)
    await late.end()
    await client.turn('Next', 'Done')
    await client.recorder.close()
    expect(await compactions(store)).toBe(1)
  })

  it('prepares a handoff before the window is full, reported usage or not [proxy law 16]', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    // By bytes, this is more than 65 % of the window and less than 92 %, where a request would wait.
    while (client.body().length < WINDOW * 4 * 0.75) {
      await client.turn(`Question. ${LONG}`, 'Answer.', 0)
    }
    await until(async () => (await compactions(store)) > 0)
    expect(await client.turn('Next', 'Done', 0)).toContain('[handoff ')
  })

  it('never delays a request for a summary [proxy law 12]', async () => {
    const store = openMemoryStore()
    const slow = Promise.withResolvers<never>()
    slow.promise.catch(() => {})
    const client = new Client(recorder(store, { summarize: () => slow.promise }))
    for (let at = 0; at < 12; at += 1) await client.turn(`Question ${at}. ${LONG}`, `Answer ${at}.`)
    await client.turn('More', 'Yes', WINDOW * 0.7)
    const sent = await client.turn('Meanwhile', 'I go on', WINDOW * 0.7)
    expect(JSON.parse(sent).messages).toHaveLength(client.messages.length - 1)
    expect(await compactions(store)).toBe(0)
    slow.reject(new Error('the model is gone'))
    // The digest replaces it.
    await until(async () => (await compactions(store)) > 0)
  })

  it('does not wait for a model when a request does not fit without a handoff [proxy law 12]', async () => {
    const store = openMemoryStore()
    const slow = Promise.withResolvers<never>()
    slow.promise.catch(() => {})
    const client = new Client(recorder(store, { summarize: () => slow.promise }))
    for (let at = 0; at < 12; at += 1) await client.turn(`Question ${at}. ${LONG}`, `Answer ${at}.`)
    await client.turn('More', 'Yes', WINDOW * 0.7)
    await client.turn('Almost', 'Yes', WINDOW * 0.91)
    const sent = await client.turn(`Too much. ${LONG}`, 'Yes')
    expect(sent).toContain('[handoff ')
    expect(await compactions(store)).toBe(1)
    slow.reject(new Error('the model is gone'))
  })

  it('goes back with the client, and keeps the abandoned branch [proxy laws 8, 18]', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await client.turn('one', 'alpha')
    await client.turn('two', 'beta')
    client.messages.splice(2)
    await client.turn('three', 'gamma')
    const context = await store.readContext({ sessionId: ID })
    const text = JSON.stringify(context?.entries.map(({ body }) => body))
    expect(text).toContain('gamma')
    expect(text).not.toContain('beta')
    const { hits } = await store.search({ sessionId: ID, text: 'beta', limit: 5, neighbours: 0 })
    expect(hits).toHaveLength(1)
    expect(await store.verify({ sessionId: ID })).toEqual([])
  })

  it('records the summary of a client that compacts itself as the summary of the client', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await client.turn('The code word is heron.', 'Noted.')
    await client.turn('Go on.', 'I went on.')
    // As Claude Code sends it: its summary as a string, what it kept, and the command itself.
    const summary = `${CLAUDE_SUMMARY} The summary below covers the earlier portion of the conversation.\n\nThe code word is heron.`
    const command = '<command-name>/compact</command-name>'
    client.messages = [
      { role: 'user', content: summary },
      { role: 'assistant', content: [{ type: 'text', text: 'I went on.' }] },
      { role: 'user', content: [{ type: 'text', text: command }] },
    ]
    await client.turn('Which code word?', 'Heron.')
    await client.turn(`${CLAUDE_SUMMARY} Why do I read this sentence?`, 'It is mine.')
    const all = await entries(store)
    expect(all.map(({ kind, meta }) => ('lane' in meta ? meta.lane : kind)).slice(5)).toEqual([
      ...['revert', 'notification', 'assistant', 'user', 'assistant', 'user', 'assistant'],
    ])
    expect(all[5]?.body).toBe('{"by":"client compaction"}')
    expect(all[6]?.body).toContain('"isSummary":true')
    expect(all.filter(({ body }) => body?.includes('isSummary'))).toHaveLength(1)
    expect(await store.verify({ sessionId: ID })).toEqual([])
    // The next process knows the history by the same units.
    const later = new Client(recorder(store))
    later.messages = client.messages
    await later.turn('Still?', 'Yes.')
    expect(await entries(store)).toHaveLength(all.length + 2)
  })

  it('records the handoff of `leave` separately from the text after it when the client returns', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await client.turn('The code word is heron.', 'Noted.')
    const handoff = await handoffForClient(store, ID, 200_000)
    const text = handoff?.text ?? ''
    client.messages = [{ role: 'user', content: [{ type: 'text', text }] }]
    await client.turn('Which code word?', 'Heron.')
    const behind = (await entries(store)).slice(3)
    expect(behind.map(({ kind, meta }) => ('lane' in meta ? meta.lane : kind))).toEqual([
      ...['revert', 'user', 'user', 'assistant'],
    ])
    expect(behind[0]?.body).toBe('{"by":"leave"}')
    expect(behind.map(({ body }) => body?.includes('"isSummary":true'))).toEqual([
      ...[false, true, false, false],
    ])
    const next = await handoffForClient(store, ID, 200_000)
    expect(next?.text).toContain('heron')
  })

  it('names a session that begins with the summary of a client by the first words of the person', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    client.messages = [
      { role: 'user', content: [{ type: 'text', text: `${CLAUDE_SUMMARY} The gate was red.` }] },
      { role: 'assistant', content: [{ type: 'text', text: 'I painted it green.' }] },
    ]
    await client.turn('Paint the fence too.', 'Done.')
    await until(async () => (await store.findSession(ID))?.title === 'Paint the fence too')
    const first = (await entries(store)).find(({ kind }) => kind === 'input')
    expect(first?.meta).toMatchObject({ lane: 'notification' })
  })

  it('names a session by the first sentence of the person, without blocks of the client and secrets', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    const block = '<system-reminder>\nUse **tools**.\n</system-reminder>'
    client.messages.push({
      role: 'user',
      content: [
        { type: 'text', text: block },
        { type: 'text', text: `## Fix **the** gate with ${KEY}. Then rest.` },
      ],
    })
    const passage = await client.ask()
    for (const event of replyEvents('Done.', 100)) passage.take(event)
    await passage.end()
    await until(
      async () => (await store.findSession(ID))?.title === 'Fix the gate with [secret:anthropic]',
    )
  })

  it('keeps the transcript of a sub-agent separate, linked to its parent [proxy law 10]', async () => {
    const store = openMemoryStore()
    const made = recorder(store)
    const main = new Client(made)
    const agent = new Client(made)
    agent.headers['x-claude-code-agent-id'] = 'a1'
    await Promise.all([main.turn('main words', 'ok'), agent.turn('agent words', 'ok')])
    const [settings] = await entries(store, sessionId('claude-s1-a1'))
    expect(settings?.body).toContain('"under":"claude-s1"')
    expect(JSON.stringify(await entries(store))).not.toContain('agent words')
  })

  it('links the session of an opencode sub-agent to the one that it names as its parent', async () => {
    const store = openMemoryStore()
    const child = new Client(recorder(store))
    delete child.headers['x-claude-code-session-id']
    Object.assign(child.headers, { 'x-session-id': 'ses_2', 'x-parent-session-id': 'ses_1' })
    await child.turn('child words', 'ok')
    const [settings] = await entries(store, sessionId('opencode-ses_2'))
    expect(settings?.body).toContain('"under":"opencode-ses_1"')
  })

  it('creates no session for a side call [proxy law 9]', async () => {
    const store = openMemoryStore()
    const { headers } = new Client(recorder(store))
    const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'title?' }] }))
    const made = recorder(store)
    const passage = await made.begin({ path: '/v1/messages', headers, body, launch: null })
    expect(passage.send).toEqual([body])
    expect(await store.listSessions({ limit: 5 })).toEqual([])
  })

  it.each(['findSession', 'adoptSession', 'adoptEntries', 'acquire', 'registerRunner'] as const)(
    'forwards a request unchanged when %s fails [proxy law 17]',
    async (verb) => {
      const store = openMemoryStore()
      const broken = new Proxy(store, {
        get: (target, name) =>
          name === verb
            ? async () => {
                throw new Error('disk full')
              }
            : Reflect.get(target, name),
      })
      const client = new Client(recorder(broken))
      client.messages.push({ role: 'user', content: [{ type: 'text', text: 'one' }] })
      const passage = await client.ask()
      expect(Buffer.concat([...passage.send])).toEqual(client.body())
      await passage.end()
    },
  )

  it('records later the messages that the store first failed to write [proxy law 17]', async () => {
    const store = openMemoryStore()
    let isFull = true
    const filling = new Proxy(store, {
      get: (target, name) =>
        (name === 'adoptEntries' || name === 'changeSettings') && isFull
          ? async () => {
              throw new Error('disk full')
            }
          : Reflect.get(target, name),
    })
    const client = new Client(recorder(filling))
    await client.turn('one', 'alpha')
    isFull = false
    await client.turn('two', 'beta')
    const [settings, ...messages] = (await entries(store)).toSorted(
      (one, other) => Number(other.kind === 'settings') - Number(one.kind === 'settings'),
    )
    expect(settings?.body).toContain('"session":"s1"')
    expect(messages.map(({ kind }) => kind)).toEqual(['input', 'assistant', 'input', 'assistant'])
  })

  it('notes the window and the size of system text and tools when they change', async () => {
    const store = openMemoryStore()
    const first = new Client(recorder(store))
    await first.turn('one', 'alpha')
    await first.turn('two', 'beta')
    const frames = async () =>
      (await entries(store))
        .filter(({ kind }) => kind === 'settings')
        .map(({ meta, tokens }) => [(meta as SettingsMeta).limits?.hardTokens, tokens])
    const small = [WINDOW, expect.any(Number)]
    expect(await frames()).toEqual([small])
    const later = new Client(recorder(store, { windowTokens: 100_000 }))
    later.messages = first.messages
    later.tools = [{ name: 'Bash', description: 'x'.repeat(40_000) }]
    await later.turn('three', 'gamma')
    await later.turn('four', 'delta')
    expect(await frames()).toEqual([small, [100_000, expect.closeTo(10_000, -3)]])
    expect((await store.findSession(ID))?.limits.hardTokens).toBe(100_000)
    expect(await store.verify({})).toEqual([])
  })

  it('sends the same bytes and duplicates nothing with two proxies on one store [proxy law 21]', async () => {
    const store = openMemoryStore()
    const one = new Client(recorder(store))
    const two = new Client(recorder(store))
    two.messages = one.messages
    for (let at = 0; at < 10; at += 1) {
      one.messages.push({ role: 'user', content: [{ type: 'text', text: `prompt ${at}` }] })
      const passages = await Promise.all([one.ask(), two.ask()])
      const [a, b] = passages.map(({ send }) => Buffer.concat([...send]).toString())
      expect(b).toBe(a)
      for (const passage of passages) {
        for (const event of replyEvents(`answer ${at}`, 10)) passage.take(event)
      }
      await Promise.all(passages.map((passage) => passage.end()))
      one.messages.push({ role: 'assistant', content: [{ type: 'text', text: `answer ${at}` }] })
    }
    const said = (await kinds(store)).filter((kind) => kind !== 'settings')
    expect(said).toHaveLength(20)
    expect(await store.verify({ sessionId: ID })).toEqual([])
  })

  it('records a request on top of what another proxy wrote meanwhile [proxy law 21]', async () => {
    const store = openMemoryStore()
    const released = () => until(async () => (await store.findSession(ID))?.runner === null)
    const one = new Client(recorder(store))
    await one.turn('one', 'alpha')
    await released()
    const two = new Client(recorder(store))
    two.messages = [...one.messages]
    await two.turn('two', 'beta')
    await released()
    one.messages = [...two.messages, { role: 'user', content: [{ type: 'text', text: 'three' }] }]
    await one.ask()
    const said = ['input', 'assistant', 'input', 'assistant', 'input']
    expect(await kinds(store)).toEqual(['settings', ...said])
  })

  it('never uses the handoff of one session in another', async () => {
    const made = recorder(openMemoryStore(), { windowTokens: 100_000 })
    const path = '/v1/responses'
    const say = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] })
    const begin = (thread: string, input: readonly JsonObject[]) => {
      const body = Buffer.from(JSON.stringify({ input, tools: [{}] }))
      return made.begin({ path, headers: { 'thread-id': thread }, body, launch: null })
    }
    const trigger = { type: 'compaction_trigger' }
    const words = { t1: 'heron', t2: 'otter' }
    const entries = new Set<number | undefined>()
    for (const [thread, word] of Object.entries(words)) {
      const input = [say(`The code word is ${word}. ${LONG}`), say(LONG), trigger]
      entries.add((await begin(thread, input)).compaction?.entry)
    }
    expect(entries.size).toBe(1)
    const item = {
      type: 'compaction',
      encrypted_content: `throughline.codex-t1.${[...entries][0]}`,
    }
    const { send } = await begin('t2', [item, say('go')])
    expect(Buffer.concat([...send]).toString()).not.toContain('otter')
  })

  it('keeps conversations with the same cache key apart', async () => {
    const store = openMemoryStore()
    const made = recorder(store)
    const begin = async (...texts: readonly string[]) => {
      const messages = texts.map((content, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content,
      }))
      const body = Buffer.from(JSON.stringify({ messages, prompt_cache_key: 'program' }))
      const request = { path: '/v1/chat/completions', headers: {}, body, launch: null }
      const passage = await made.begin(request)
      const message = { role: 'assistant', content: `Hello, ${texts[0]}` }
      passage.take({ object: 'chat.completion', choices: [{ index: 0, message }] })
      await passage.end()
    }
    await begin('Ann asks')
    await begin('Bob asks')
    await begin('Ann asks', 'Hello, Ann asks', 'Ann again')
    await begin('Bob asks', 'Hello, Bob asks', 'Bob again')
    const sessions = await store.listSessions({ limit: 10 })
    const said = await Promise.all(
      sessions.map(async ({ id }) => JSON.stringify((await entries(store, id)).map((e) => e.body))),
    )
    const names = said.map((text) => ['Ann', 'Bob'].filter((name) => text.includes(name)))
    expect(names.toSorted()).toEqual([['Ann'], ['Bob']])
  })

  it('says why no handoff is made of messages that the store could not keep', async () => {
    const store = openMemoryStore()
    const full = async () => {
      throw new Error('disk full')
    }
    const failing = new Proxy(store, {
      get: (target, name) => (name === 'adoptEntries' ? full : Reflect.get(target, name)),
    })
    const reasons: unknown[] = []
    const warn = ({ reason }: { reason?: unknown }) => reasons.push(reason)
    const logger = { ...SILENT, warn } as never
    const client = new Client(recorder(failing, { logger }))
    for (let at = 0; at < 12; at += 1) await client.turn(`Question ${at}. ${LONG}`, `Answer ${at}.`)
    await client.turn('More', 'Yes', WINDOW)
    await until(() => reasons.includes('not-recorded'))
  })

  it('logs no conversation text when a handoff fails', async () => {
    const store = openMemoryStore()
    const lines: unknown[] = []
    const logger = { ...SILENT, warn: (...line: unknown[]) => lines.push(line) } as never
    const client = new Client(recorder(store, { logger }))
    await client.turn(`Question. ${LONG}`, 'Answer.')
    await client.turn('heron', 'Answer.')
    store.readEntries = async () => {
      throw new Error('cannot read "heron"')
    }
    await client.turn('More', 'Yes', WINDOW)
    await until(async () => JSON.stringify(lines).includes('no handoff was made'))
    expect(JSON.stringify(lines)).not.toContain('heron')
  })

  it('purges entries of a session that a proxy holds, and never sends their handoff again', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await client.turn('The word is GRANITE', 'I know the word')
    expect(await compacted(client, store)).toContain('[handoff ')
    const numbers = (await entries(store))
      .filter(({ kind, body }) => kind !== 'compaction' && body?.includes('GRANITE') === true)
      .map(({ number }) => number)
    expect(numbers.length).toBe(1)
    const request = { entries: numbers, reason: 'asked' }
    const purged = await purge({ store, countTokens: () => 1 }, ID, request)
    expect(purged).toMatchObject({ kind: 'asked', asked: [] })
    expect(JSON.stringify(await entries(store))).not.toContain('GRANITE')
    // The client has its own copy, and the handoff that repeated it is gone.
    expect(await client.turn('After', 'Yes')).not.toContain('[handoff ')
  })

  it('shows with the context the provider’s count, and the count at which a handoff is written', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await client.turn('Hello', 'Hi')
    const [call] = await store.readAttempts({ sessionId: ID, since: 0, limit: 1 })
    const runtime = await openRuntime({ store, agents: [], runs: false, auxiliary: {} })
    const context = await runtime.session(ID).context({})
    expect(context).toMatchObject({
      softTokens: Math.floor(WINDOW * 0.65),
      countedTokens: call?.inputTokens,
    })
    await runtime.close()
  })

  it('leaves no mail in a session that no process reads', async () => {
    const store = openMemoryStore()
    const client = new Client(recorder(store))
    await client.turn('Hello', 'Hi')
    const runtime = await openRuntime({ store, agents: [], runs: false, auxiliary: {} })
    const session = runtime.session(ID)
    const parts = [{ type: 'text', text: 'Are you there?' }] as const
    const said = { source: 'test', key: 'a' }
    await expect(session.admit({ ...said, parts })).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringContaining('Continue it in that client.'),
    })
    await expect(session.revert(said)).rejects.toMatchObject({ code: 'invalid-request' })
    expect(await store.listMail({ sessionId: ID, limit: 9 })).toEqual([])
    await runtime.close()
  })
})
