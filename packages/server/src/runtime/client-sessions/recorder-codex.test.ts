import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { entryNumber, sessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import { SILENT } from '#core/base/logger'
import type { Store } from '#core/store/contract'
import { openMemoryStore } from '#core/store/memory/open'
import { writeAddress } from '../../proxy/history.ts'
import { Recorder } from './recorder.ts'

const opened: Recorder[] = []

afterEach(async () => {
  for (const recorder of opened.splice(0)) await recorder.close()
})

function recorder(store: Store, { windowTokens }: { readonly windowTokens: number }): Recorder {
  const made = new Recorder({ store, clock: systemClock, logger: SILENT, windowTokens })
  opened.push(made)
  return made
}

const WINDOW = 8_000
const LONG = 'The quick brown fox jumps over the lazy dog and looks back. '.repeat(20)

describe('Recorder with Codex', () => {
  it('answers a Codex compaction with a reference, and later sends the handoff in its place', async () => {
    const store = openMemoryStore()
    const made = recorder(store, { windowTokens: 100_000 })
    const headers = { 'thread-id': 't1' }
    const path = '/v1/responses'
    const say = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] })
    let input: JsonObject[] = [say(`The code word is heron. ${LONG}`), say(LONG), say(LONG)]
    for (let round = 1; round <= 3; round += 1) {
      const trigger = { type: 'compaction_trigger' }
      const body = Buffer.from(JSON.stringify({ input: [...input, trigger], tools: [{}] }))
      const { compaction } = await made.begin({ path, headers, body, launch: null })
      expect(compaction?.session).toBe('codex-t1')
      const content = `throughline.${compaction?.session}.${compaction?.entry}`
      input = [say('kept'), { type: 'compaction', encrypted_content: content }, say(`go ${round}`)]
      const next = Buffer.from(JSON.stringify({ input, tools: [{}] }))
      const { send } = await made.begin({ path, headers, body: next, launch: null })
      const sent = JSON.parse(Buffer.concat([...send]).toString()) as { input: JsonObject[] }
      expect(sent.input).toHaveLength(2)
      expect(JSON.stringify(sent.input[0])).toContain('heron')
    }
    expect(await store.verify({})).toEqual([])
  })

  it('opens a session for an item only if the item has the token of its handoff', async () => {
    const store = openMemoryStore()
    const made = recorder(store, { windowTokens: 100_000 })
    const say = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] })
    const ask = async (
      headers: Record<string, string>,
      input: readonly JsonObject[],
      more = {},
    ) => {
      const body = Buffer.from(JSON.stringify({ input, tools: [{}], ...more }))
      const passage = await made.begin({ path: '/v1/responses', headers, body, launch: null })
      await passage.end()
      return {
        ...passage,
        sent: Buffer.concat([...passage.send]).toString(),
        body: body.toString(),
      }
    }
    const trigger = { type: 'compaction_trigger' }
    const compact = async (headers: Record<string, string>, word: string) => {
      const asked = [say(`The code word is ${word}. ${LONG}`), say(LONG), say(LONG), trigger]
      const { compaction } = await ask(headers, asked)
      if (compaction?.token === undefined) throw new Error('There is no item.')
      return { ...compaction, token: compaction.token }
    }
    const victim = await compact({ 'x-session-id': 'v' }, 'heron')
    const other = await compact({ 'x-session-id': 'o' }, 'crane')
    const id = sessionId(victim.session)
    const before = await store.findSession(id)
    const { token: _, ...guessed } = victim
    const item = (address: Parameters<typeof writeAddress>[0]) => [
      say('hi'),
      { type: 'compaction', encrypted_content: writeAddress(address) },
      say(`go on ${address.token}`),
    ]
    const wrong = victim.token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    const forged = [
      ...[guessed, { ...guessed, token: wrong }, { ...guessed, token: other.token }],
      ...[
        { ...guessed, entry: 1 },
        { session: 'agent-later', entry: 3 },
      ],
      { session: '-', entry: 3, token: victim.token },
    ]
    for (const address of forged) {
      for (const headers of [{}, { 'x-session-id': 'mallory' }]) {
        const { sent, body } = await ask(headers, item(address))
        expect(sent).toBe(body)
      }
      const hinted = await ask({}, item(address), { prompt_cache_key: 'v' })
      expect(hinted.sent).toBe(hinted.body)
    }
    expect(await store.findSession(id)).toEqual(before)
    // The item itself is enough for a client without ids, and the id for an item without a token.
    expect((await ask({}, item(victim))).sent).toContain('heron')
    expect((await ask({ 'x-session-id': 'v' }, item(guessed))).sent).toContain('heron')
    // Also in the next process.
    const again = recorder(store, { windowTokens: 100_000 })
    const body = Buffer.from(JSON.stringify({ input: item(other), tools: [{}] }))
    const { send } = await again.begin({ path: '/v1/responses', headers: {}, body, launch: null })
    expect(Buffer.concat([...send]).toString()).toContain('crane')
    expect(await store.verify({})).toEqual([])
  })

  it('counts system text and tools that Codex sends after a summary', async () => {
    const store = openMemoryStore()
    const made = recorder(store, { windowTokens: 100_000 })
    const say = (text: string, role = 'user') => ({
      ...{ type: 'message', role },
      content: [{ type: 'input_text', text }],
    })
    const ask = async (input: readonly JsonObject[]) => {
      const body = Buffer.from(JSON.stringify({ input }))
      const headers = { 'thread-id': 't5' }
      const passage = await made.begin({ path: '/v1/responses', headers, body, launch: null })
      const usage = { input_tokens: 5_000, output_tokens: 1 }
      passage.take({ type: 'response.completed', response: { usage } })
      await passage.end()
    }
    const tools = { type: 'additional_tools', role: 'developer', tools: ['x'.repeat(40_000)] }
    const rules = say(`# AGENTS.md instructions for /work\n${'y'.repeat(8_000)}`)
    const around = [tools, say(`You are Codex. ${'z'.repeat(20_000)}`, 'developer'), rules]
    const fixed = async () => {
      const { entries = [] } = (await store.readContext({ sessionId: sessionId('codex-t5') })) ?? {}
      return entries.findLast(({ kind }) => kind === 'settings')?.tokens
    }
    await ask([...around, say('one')])
    const first = await fixed()
    expect(first).toBeCloseTo(17_000, -3)
    const summary = say('[handoff 0123456789ab by=model]\nThe code word is heron.')
    await ask([summary, ...around, say('two')])
    expect(await fixed()).toBe(first)
    // Each turn may bring a note of the same kind; the newest takes the place of the others.
    await ask([summary, ...around, say('two'), rules, say('three'), rules, say('four')])
    expect(await fixed()).toBe(first)
  })

  it("counts what Codex's own compaction uses", async () => {
    const store = openMemoryStore()
    const made = recorder(store, { windowTokens: 100_000 })
    const say = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] })
    const ask = async (tokens: number, kind: string, input: readonly JsonObject[]) => {
      const metadata = JSON.stringify({ request_kind: kind })
      const headers = { 'thread-id': 't4', 'x-codex-turn-metadata': metadata }
      const body = Buffer.from(JSON.stringify({ input, tools: [{}] }))
      const passage = await made.begin({ path: '/v1/responses', headers, body, launch: null })
      const usage = { input_tokens: tokens, output_tokens: 1 }
      passage.take({ type: 'response.completed', response: { output: [], usage } })
      await passage.end()
      return passage.purpose
    }
    expect(await ask(801, 'turn', [say('one')])).toBe('conversation')
    expect(await ask(802, 'compaction', [say('one'), say('Summarize.')])).toBe('compaction')
    const calls = await store.readAttempts({ sessionId: sessionId('codex-t4'), since: 0, limit: 9 })
    expect(calls.map(({ inputTokens }) => inputTokens).toSorted()).toEqual([801, 802])
  })

  it("keeps the summary of Codex apart from the person's messages around it", async () => {
    const store = openMemoryStore()
    const made = recorder(store, { windowTokens: 100_000 })
    const say = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] })
    const answer = { role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] }
    const ask = async (input: readonly JsonObject[]) => {
      const body = Buffer.from(JSON.stringify({ input, tools: [{}] }))
      const headers = { 'thread-id': 't3' }
      await (await made.begin({ path: '/v1/responses', headers, body, launch: null })).end()
    }
    await ask([say('one'), answer, say('two'), answer, say('three')])
    const summary = (text: string) =>
      say(`Another language model started to solve this problem. Its summary: ${text}`)
    // Codex keeps the person's messages in front of its summary.
    await ask([say('one'), say('two'), say('three'), summary('first'), say('four')])
    await ask([say('one'), say('two'), say('three'), say('four'), summary('second'), say('five')])
    const id = sessionId('codex-t3')
    const tail = (await store.findSession(id))?.tail ?? entryNumber(0)
    const all = await store.readEntries({ sessionId: id, from: entryNumber(1), to: tail })
    const behind = all.slice(all.findIndex(({ kind }) => kind === 'revert'))
    const drawn = behind.map(({ kind, body, meta }) => {
      const lane = 'lane' in meta ? meta.lane : kind
      const texts = [...(body ?? '').matchAll(/"text":"(?:[^"]*: )?([^"]*)"/g)]
      return `${lane} ${texts.map(([, text]) => text).join(' ')}`.trim()
    })
    expect(drawn).toEqual([
      ...['revert', 'user two three', 'notification first', 'user four'],
      ...['revert', 'user four', 'notification second', 'user five'],
    ])
    expect(await store.verify({})).toEqual([])
  })

  it('records Codex with its tools as an item, and keeps them before the handoff', async () => {
    const store = openMemoryStore()
    const made = recorder(store, { windowTokens: WINDOW })
    const tools = { type: 'additional_tools', role: 'developer', tools: [{ name: 'exec' }] }
    const input: JsonObject[] = [tools, { role: 'developer', content: 'Be brief.' }]
    const ask = async (text: string, inputTokens = 100) => {
      input.push({ role: 'user', content: text })
      const body = Buffer.from(JSON.stringify({ model: 'gpt', input }))
      const headers = { 'thread-id': 't2' }
      const passage = await made.begin({ path: '/v1/responses', headers, body, launch: null })
      passage.take({
        type: 'response.completed',
        response: { usage: { input_tokens: inputTokens } },
      })
      await passage.end()
      return JSON.parse(Buffer.concat([...passage.send]).toString())['input'] as JsonObject[]
    }
    for (let at = 0; at < 12; at += 1) await ask(`Question ${at}. ${LONG}`)
    await ask('More', WINDOW)
    const id = sessionId('codex-t2')
    await expect
      .poll(async () => (await store.findSession(id))?.effective, { timeout: 20_000 })
      .toBeGreaterThan(0)
    const sent = await ask('Next')
    expect(sent.length).toBeLessThan(input.length)
    expect(sent.slice(0, 2)).toEqual(input.slice(0, 2))
  })
})
