import { tmpdir } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { serveHttp } from '../../packages/server/src/gateway/http/serve.ts'
import { configSchema } from '../../packages/server/src/host/config/schema/schema.ts'
import { runtimeTerms } from '../../packages/server/src/host/from-config.ts'
import { openRuntime } from '../../packages/server/src/runtime/open-runtime.ts'
import { standIn } from '../../packages/server/src/stand-in/index.ts'
import { bearer, tokenFor, tokensOf } from './http-place.ts'

const SOON = { timeout: 20_000 }
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function serve(tools: object = {}) {
  const { url: standInUrl, close: closeModel } = await standIn().start()
  const config = configSchema.parse({ agents: { main: { system: 'You help.', tools } } })
  const store = openMemoryStore()
  const place = { standInUrl, folder: tmpdir(), env: {} }
  const runtime = await openRuntime({ store, ...runtimeTerms(config, place) })
  const all = tokenFor('write')
  const limited = tokenFor('write', 'session:other')
  const reader = tokenFor('read')
  const server = await serveHttp({ runtime, tokens: tokensOf(all, limited, reader) })
  closers.push(
    closeModel,
    () => store.close(),
    () => runtime.close(),
    () => server.close(),
  )
  const send = (token: typeof all) => async (method: string, path: string, text?: string) => {
    const response = await fetch(`${server.url}/v1/sessions/${path}`, {
      method,
      headers: { ...bearer(token), 'content-type': 'application/json' },
      ...(text !== undefined && { body: JSON.stringify({ text }) }),
    })
    const body = await response.text()
    return { status: response.status, json: body === '' ? null : JSON.parse(body) }
  }
  const as = { all: send(all), limited: send(limited), reader: send(reader) }
  for (const id of ['mine', 'other']) await runtime.createSession({ agent: 'main', id })
  const say = async (text: string) =>
    expect((await as.all('POST', 'mine/messages?wait=reply', text)).status).toBe(200)
  const memory = async () => (await as.all('GET', 'mine/memory')).json
  const seen = async () => {
    const view = await runtime.session(sessionId('mine')).context({})
    return view?.parts.map(({ text }) => text).join('\n') ?? ''
  }
  return { store, runtime, as, say, memory, seen }
}

const use = (tool: string, input: object) => `use ${tool} ${JSON.stringify(input)}`
const KEEP = [
  use('memory', { action: 'add', id: 'drink', text: 'Likes tea.' }),
  use('tasks', { tasks: [{ content: 'Order cups', status: 'in_progress' }] }),
  use('schedule', { action: 'add', in_seconds: 3_600, text: 'Buy milk.' }),
].join('\n')

describe('the memory of an agent over HTTP', () => {
  it('keeps its notes apart from the pins, under a name that no pin may take', async () => {
    const { as, say, seen, runtime } = await serve()
    await say(KEEP)
    await expect.poll(seen, SOON).toContain('Likes tea.')
    for (const [method, text] of [['PUT', 'Mine.'], ['DELETE']] as const) {
      const refused = await as.all(method, 'mine/pins/memory', text)
      expect(refused).toMatchObject({ status: 400, json: { code: 'invalid' } })
      expect(refused.json.errors[0].problem).toContain(
        '"memory" is reserved for the notes of the agent',
      )
    }
    await expect(
      runtime.session(sessionId('mine')).pin({ source: 'a', key: 'k', name: 'memory', text: null }),
    ).rejects.toThrow('"memory" is reserved for the notes of the agent')
    expect((await as.all('GET', 'mine/pins')).json.pins).toEqual([])
    expect((await as.all('GET', 'mine')).json.pins).toEqual([])
    expect(await seen()).toContain('Likes tea.')
  })

  it('holds notes, pins, tasks, instructions and reminders, each with the entry it came from', async () => {
    const { as, say, memory, runtime } = await serve()
    await say(KEEP)
    await say('Never push to main without asking me first.')
    await as.all('PUT', 'mine/pins/payments', 'Leave payments alone.')
    const { notes, pins, tasks, tasksEntry, rules, reminders, changes } = await memory()
    expect(notes).toMatchObject([
      { id: 'drink', text: 'Likes tea.', origin: { sessionId: 'mine' } },
    ])
    expect(pins).toMatchObject([{ name: 'payments', text: 'Leave payments alone.' }])
    expect(tasks).toEqual([{ text: 'Order cups', status: 'running' }])
    expect(reminders).toMatchObject([{ text: 'Buy milk.', repeat: null }])
    expect(changes.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
      ...['notes', 'pin', 'tasks'],
    ])
    const entryAt = async (number: number) => {
      const range = { from: number, to: number }
      const [entry] = (await runtime.session(sessionId('mine')).transcript(range)) ?? []
      return JSON.stringify(entry)
    }
    expect(await entryAt(notes[0].origin.entry)).toContain('Likes tea.')
    expect(await entryAt(pins[0].entry)).toContain('Leave payments alone.')
    expect(await entryAt(tasksEntry)).toContain('Order cups')
    expect(rules).toMatchObject([{ text: expect.stringContaining('Never push to main') }])
    expect(await entryAt(rules[0].entry)).toContain('Never push to main')
  })

  it('is corrected by a person: the model sees the new text, the history keeps the old one', async () => {
    const { as, say, memory, seen } = await serve()
    await say(KEEP)
    const before = await memory()
    expect((await as.all('PUT', 'mine/notes/drink', 'Likes coffee.')).status).toBe(204)
    await expect.poll(seen, SOON).toContain('Likes coffee.')
    expect(await seen()).not.toMatch(/\] Likes tea\./)
    const after = await memory()
    expect(after.notes).toMatchObject([
      { id: 'drink', text: 'Likes coffee.', origin: before.notes[0].origin },
    ])
    const shown = after.changes.filter(({ kind }: { kind: string }) => kind === 'notes')
    expect(shown.map(({ text }: { text: string }) => /\] (.*)/.exec(text)?.[1])).toEqual([
      ...['Likes coffee.', 'Likes tea.'],
    ])
    expect((await as.all('DELETE', 'mine/notes/drink')).status).toBe(204)
    await expect.poll(seen, SOON).not.toContain('Likes coffee.')
    expect((await memory()).notes).toEqual([])
    expect((await as.all('DELETE', 'mine/notes/drink')).json.code).toBe('unknown-note')
    expect((await as.all('PUT', 'mine/notes/drink', 'Likes coffee.')).json.code).toBe(
      'unknown-note',
    )
  })

  it('takes no note that is blank, or that makes the notes exceed their limit', async () => {
    const { as, say, memory } = await serve({ memory: { tokensMax: 100 } })
    await say(KEEP)
    const refused = await as.all('PUT', 'mine/notes/drink', 'tea '.repeat(149))
    expect(refused.json).toMatchObject({ code: 'turned-down', why: 'no-room', limit: 100 })
    expect((await as.all('PUT', 'mine/notes/drink', ' \n')).status).toBe(400)
    expect((await memory()).notes).toMatchObject([{ text: 'Likes tea.' }])
  })

  it('loses a reminder that a person cancels', async () => {
    const { as, say, memory, store } = await serve()
    await say(KEEP)
    const [{ id }] = (await memory()).reminders
    expect((await as.all('DELETE', `mine/reminders/${id}`)).status).toBe(204)
    expect((await memory()).reminders).toEqual([])
    const [row] = await store.listSchedules({ sessionId: sessionId('mine'), limit: 9 })
    expect(row?.state).toBe('cancelled')
    expect((await as.all('DELETE', `mine/reminders/${id}`)).json.code).toBe('unknown-reminder')
  })

  it('is out of reach for a token of another session, and unchanged by one that only reads', async () => {
    const { as, say, memory } = await serve()
    await say(KEEP)
    // Between two turns the notes become visible, which is a change of its own.
    await say('Thanks.')
    const before = await memory()
    const [{ id }] = before.reminders
    expect((await as.limited('GET', 'other/memory')).json).toMatchObject({
      ...{ notes: [], reminders: [], changes: [] },
    })
    expect((await as.limited('GET', 'mine/memory')).status).toBe(404)
    expect((await as.limited('DELETE', 'other/notes/drink')).json.code).toBe('unknown-note')
    expect((await as.limited('DELETE', `other/reminders/${id}`)).json.code).toBe('unknown-reminder')
    expect((await as.reader('GET', 'mine/memory')).status).toBe(200)
    expect((await as.reader('DELETE', 'mine/notes/drink')).status).toBe(403)
    expect((await as.reader('DELETE', `mine/reminders/${id}`)).status).toBe(403)
    expect(await memory()).toEqual(before)
  })
})
