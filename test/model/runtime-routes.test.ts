import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { isArray, isObject, type JsonValue } from '../../packages/core/src/base/json.ts'
import { loadConfig } from '../../packages/server/src/host/config/load.ts'
import { runtimeTerms } from '../../packages/server/src/host/from-config.ts'
import type { JournalEntry } from '../../packages/server/src/stand-in/journal.ts'
import { until } from '../support/until.ts'
import { agentOf, openRuntimeBench, type RuntimeBenchOptions, routeOf } from './runtime-bench.ts'

/** What all agents of a process share, and what a configuration makes of their summaries. */
let bench: Awaited<ReturnType<typeof openRuntimeBench>>
afterEach(() => bench.close())
const opened = async (options: RuntimeBenchOptions = {}) => {
  bench = await openRuntimeBench(options)
  return bench
}
const soon = () => AbortSignal.timeout(15_000)
const once = () => ({ source: 'test', key: `k${++keys}` })
let keys = 0

const two: RuntimeBenchOptions['agents'] = (url) => [
  agentOf(url, { name: 'one' }),
  agentOf(url, { name: 'other' }),
]
const isForSummary = ({ bodyText }: Pick<JournalEntry, 'bodyText'>) =>
  bodyText.includes('another model takes over') || bodyText.includes('===== conversation')
const isTitle = ({ bodyText }: Pick<JournalEntry, 'bodyText'>) =>
  bodyText.includes('Name the quoted conversation')
const isForHandoff = (entry: Pick<JournalEntry, 'bodyText'>) =>
  isForSummary(entry) && !isTitle(entry)

describe('two agents of one process', () => {
  it('share the host’s allowance, also for calls side by side', async () => {
    const own = await opened({
      agents: two,
      runtime: { auxiliary: { allowance: { windowMs: 3_600_000, host: { tokens: 9_000 } } } },
    })
    const talks = [await own.session('a', 'one'), await own.session('b', 'other')]
    for (const talk of talks) {
      // Titles would be paid from the same purse.
      await own.store.setTitle({ sessionId: talk.id, title: 'Named' })
      await own.fill(talk, 5)
    }
    own.server.faults.always('latency; ms=300', { when: isForHandoff })
    const shown = await Promise.all(talks.map((talk) => talk.preview({}, soon())))
    expect(shown.map(({ kind }) => kind).sort()).toEqual(['failed', 'previewed'])
    expect(shown.find(({ kind }) => kind === 'failed')).toMatchObject({
      reason: 'budget-spent:host-tokens',
    })
  })

  it('share a paused route and its next try; so do two processes with one store', async () => {
    const own = await opened({ agents: two })
    const talks = [await own.session('a', 'one'), await own.session('b', 'other')]
    for (const talk of talks) await own.fill(talk, 5)
    const [one, other] = talks
    const asked = () => own.server.journal.entries.filter(isForHandoff).length
    const lift = own.server.faults.always('status; code=401', { when: isForHandoff })
    const refused = await one?.preview({}, soon())
    expect(refused).toMatchObject({ kind: 'failed', reason: 'refused:bad-key:401' })
    const route = async () =>
      (await own.runtime.health()).routes.find(({ task }) => task === 'compaction')
    expect(await route()).toMatchObject({ state: 'open', retryAt: expect.any(Number) })
    lift()
    const before = asked()
    expect(await other?.preview({}, soon())).toMatchObject({ reason: 'cooling-down' })
    expect(asked()).toBe(before)

    own.time.aheadMs = 31_000
    expect(await route()).toMatchObject({ state: 'half-open', retryAt: null })
    const another = await own.openAnother()
    own.server.faults.always('latency; ms=3000', { when: isForHandoff })
    const sessions = [...talks, ...talks.map(({ id }) => another.session(id))]
    const shown = await Promise.all(sessions.map((session) => session.preview({}, soon())))
    expect(shown.filter(({ kind }) => kind === 'previewed')).toHaveLength(1)
    expect(asked()).toBe(before + 1)
    expect((await other?.preview({}, soon()))?.kind).toBe('previewed')
  })

  it('record turns and tasks under the address of their routes, with health for routes in use', async () => {
    const own = await opened()
    const talk = await own.session('s')
    await own.say(talk, 'Hello.')
    const { host } = new URL(own.url)
    const modelRoute = `openai-compatible/stand-in@${host}`
    const rows = async () => await own.store.readAttempts({ modelRoute, since: 0, limit: 10 })
    await until(async () => (await rows()).length === 2)
    expect((await rows()).map(({ task }) => task).sort()).toEqual(['title', 'turn'])
    const healthy = {
      ...{ model: 'stand-in', state: 'closed', failures: 0, retryAt: null },
      ...{ failuresInHour: 0, failedAt: null, answeredAt: expect.any(Number) },
    }
    const routes = async () => (await own.runtime.health()).routes
    expect(await routes()).toEqual([
      { route: modelRoute, task: 'turn', ...healthy },
      { route: modelRoute, task: 'title', ...healthy },
    ])
    own.server.faults.always('status; code=401')
    await own.say(talk, 'And now?')
    await until(async () => (await routes())[0]?.failures === 1)
    // Other sessions go on calling it, so that it is not paused.
    const failing = { state: 'failing', retryAt: null, failuresInHour: 1 }
    expect((await routes())[0]).toMatchObject(failing)
    own.server.faults.clear()
    await own.say(talk, 'And then?')
    // That it is over, and since when, is known as well.
    await until(async () => (await routes())[0]?.failures === 0)
    const [turns] = await routes()
    expect(turns).toMatchObject({ state: 'closed', failuresInHour: 1 })
    expect(turns?.answeredAt).toBeGreaterThanOrEqual(turns?.failedAt ?? Number.NaN)
    const [agent = agentOf(own.url)] = own.agents
    const elsewhere = { ...agent.routes, main: routeOf(own.url, 'another') }
    own.runtime.reconfigure([{ ...agent, routes: elsewhere }])
    expect(await routes()).toEqual([])
  })
})

describe('a changed configuration', () => {
  it('switches the main model, and every task on the main route with it [S6]', async () => {
    const text = (url: string, model: string) =>
      file(url, 'provider: openai-compatible', 'provider: main').replaceAll(
        'stand-in,',
        `${model},`,
      )
    const own = await opened({ agents: (url) => termsOf(text(url, 'before')).agents })
    const talk = await own.session('switched')
    await own.fill(talk)
    own.runtime.reconfigure(termsOf(text(own.url, 'after')).agents)
    const from = own.server.journal.entries.length
    await own.say(talk, 'And now?')
    await talk.compact(once())
    await until(async () => (await talk.summary())?.compaction !== null)
    const models = (entries: readonly JournalEntry[]) => new Set(entries.map(modelOf))
    const { entries } = own.server.journal
    expect(models(entries.slice(0, from))).toEqual(new Set(['before']))
    expect(entries.slice(from).some(isForHandoff)).toBe(true)
    expect(models(entries.slice(from))).toEqual(new Set(['after']))
  })
})

describe('summaries as they are configured', () => {
  it('reuse the conversation’s own prefix on its own route by default', async () => {
    const own = await opened({ agents: (url) => termsOf(file(url)).agents })
    const talk = await own.session('ridden')
    await own.fill(talk)
    const step = own.server.journal.entries.filter((entry) => !isTitle(entry)).at(-1)
    await talk.compact(once())
    await until(async () => (await talk.summary())?.compaction !== null)
    const summaries = own.server.journal.entries.filter(isForHandoff)
    expect(summaries).toHaveLength(1)
    const [before, asked] = [messagesOf(step), messagesOf(summaries[0])]
    const shared = asked.slice(0, -1)
    expect(shared.length).toBeGreaterThan(8)
    expect(shared).toEqual(before.slice(0, shared.length))
    expect(toolsOf(summaries[0])).toEqual(toolsOf(step))
    const [made] = (await talk.compactions({ limit: 1 })) ?? []
    expect(made).toMatchObject({ state: 'committed', by: 'model', rung: 'prefix' })
  })

  it('are the provider’s own if configured and readable', async () => {
    const text = (url: string) => file(url, 'provider: anthropic', 'atProvider: true')
    const { auxiliary = {} } = termsOf(text('http://127.0.0.1:9'))
    const own = await opened({
      agents: (url) => termsOf(text(url)).agents,
      runtime: { auxiliary },
    })
    const talk = await own.session('sealed')
    await own.fill(talk)
    await talk.compact(once())
    await until(async () => (await talk.summary())?.compaction !== null)
    const asked = own.server.journal.entries.filter(({ body }) => hasCompaction(body))
    expect(asked).toHaveLength(1)
    const [made] = (await talk.compactions({ limit: 1 })) ?? []
    expect(made).toMatchObject({ state: 'committed', by: 'model', rung: 'provider' })
  })

  it.each([
    ['provider: openai-responses', /atProvider` has no effect .* only openai-responses can read/],
    ['provider: openai-chat', /atProvider` has no effect .* no known compaction endpoint/],
  ])('a provider that cannot (%s) causes a warning of the check', (provider, expected) => {
    const { warnings } = loaded(file('http://127.0.0.1:9', provider, 'atProvider: true'))
    expect(warnings.map(({ text }) => text).join('\n')).toMatch(expected)
  })
})

function file(url: string, provider = 'provider: openai-compatible', compaction = ''): string {
  return `
agents:
  main:
    model: {${provider}, model: stand-in, baseUrl: "${url}/v1", credential: {kind: none}, windowTokens: 16000}
auxiliary: {compaction: {${compaction}}}
`
}

function loaded(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-routes-'))
  writeFileSync(join(folder, 'throughline.yaml'), text)
  const result = loadConfig({ cwd: folder, env: {}, flags: [] })
  rmSync(folder, { recursive: true })
  if (result.kind !== 'loaded') throw new Error(JSON.stringify(result.problems))
  return result
}

function termsOf(text: string) {
  const place = { standInUrl: 'http://127.0.0.1:9', folder: '.', env: {} }
  return runtimeTerms(loaded(text).config, place)
}

function messagesOf(entry: JournalEntry | undefined): readonly string[] {
  const messages = isObject(entry?.body) ? entry.body['messages'] : undefined
  return isArray(messages) ? messages.map((message) => JSON.stringify(message)) : []
}

function modelOf({ body }: JournalEntry): JsonValue | undefined {
  return isObject(body) ? body['model'] : undefined
}

function toolsOf(entry: JournalEntry | undefined): JsonValue | undefined {
  return isObject(entry?.body) ? entry.body['tools'] : undefined
}

function hasCompaction(body: JsonValue | undefined): boolean {
  return isObject(body) && body['compaction'] !== undefined
}
