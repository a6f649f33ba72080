import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mailNumber, sessionId } from '#core/base/ids'
import { prepareAnnouncement } from '../../host/served-store.ts'
import { ServerAwayError, ServerRefusedError, ServerRequests } from './requests.ts'
import { openServerRuntime } from './server-runtime.ts'
import { ServerSession } from './server-session.ts'

type Answer = readonly [status: number, body?: object | string, headers?: object]

let folder: string
let store: string
/** The requests of a test: method and path, key, type and length of the body, body. */
let asked: (readonly unknown[])[]
let answers: Answer[]
let stop: (() => Promise<void>) | undefined
/** What each request named as its host. */
let hosts: unknown[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'throughline-requests-'))
  store = join(folder, 'a.db')
  asked = []
  answers = []
  hosts = []
})
afterEach(async () => {
  await stop?.()
  stop = undefined
  expect(new Set(hosts)).toEqual(new Set(hosts.length === 0 ? [] : ['localhost']))
  rmSync(folder, { recursive: true, force: true })
})

/** A server of the store that gives the next of `answers`; without one it breaks the connection. */
async function serve(): Promise<ServerRequests> {
  const server = createServer((request, response) => void answer(request, response))
  const announcement = prepareAnnouncement(store)
  await new Promise<void>((listening) => {
    server.listen(announcement.socket ?? expect.fail('no socket here'), listening)
  })
  announcement.publish('http://127.0.0.1:1')
  stop = async () => {
    announcement.withdraw()
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
  return new ServerRequests(store)
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = ''
  for await (const piece of request.setEncoding('utf8')) text += piece
  const { method, url, headers } = request
  const { host, connection: _, ...named } = headers
  hosts.push(host)
  asked.push([`${method} ${url}`, named, ...(text === '' ? [] : [JSON.parse(text)])])
  const next = answers.shift()
  if (next === undefined) return void response.destroy()
  const [status, body = '', more = {}] = next
  response.writeHead(status, { ...more })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

const json = (text: object, key?: string) => ({
  'content-type': 'application/json',
  'content-length': `${Buffer.byteLength(JSON.stringify(text))}`,
  ...(key !== undefined && { 'idempotency-key': key }),
})
const id = sessionId('s1')
const S = '/v1/sessions/s1'
const mail = mailNumber(7)
const soon = () => AbortSignal.timeout(60_000)
const refused = (title: string) => new ServerRefusedError({ title })

describe('a request of a session to its server', () => {
  type Act = (session: ServerSession) => Promise<unknown>
  const admitted = { kind: 'admitted', sessionId: id, mail: 7 }
  const accepted: Answer = [202, { mail: 7, duplicate: false }]
  const parts = [{ type: 'text', text: 'Grüße' }] as const
  const message = { source: 'chat', key: 'k', parts }

  it.each<[string, Act, readonly Answer[], readonly (readonly unknown[])[], unknown]>([
    [
      'a summary',
      (session) => session.summary(),
      [[200, { id: 's1' }]],
      [[`GET ${S}`, {}]],
      { id: 's1' },
    ],
    [
      'a summary of none',
      (session) => session.summary(),
      [[404, { code: 'unknown-session' }]],
      [[`GET ${S}`, {}]],
      undefined,
    ],
    [
      'a message',
      (session) => session.admit(message),
      [accepted],
      [[`POST ${S}/messages`, json({ parts }, 'k'), { parts }]],
      admitted,
    ],
    [
      'a message with a lane',
      (session) => session.admit({ ...message, lane: 'notification' }),
      [[202, { mail: 7, duplicate: true }]],
      [
        [
          `POST ${S}/messages`,
          json({ parts, lane: 'notification' }, 'k'),
          { parts, lane: 'notification' },
        ],
      ],
      { ...admitted, kind: 'duplicate' },
    ],
    [
      'a stop',
      (session) => session.stop({ source: 'chat', key: 'k' }),
      [accepted],
      [[`POST ${S}/stop`, { 'idempotency-key': 'k', 'content-length': '0' }]],
      admitted,
    ],
    [
      'going on',
      (session) => session.continue({ source: 'chat', key: 'k' }),
      [accepted],
      [[`POST ${S}/continue`, { 'idempotency-key': 'k', 'content-length': '0' }]],
      admitted,
    ],
    [
      'a compaction',
      (session) => session.compact({ source: 'chat', key: 'k' }),
      [accepted],
      [[`POST ${S}/compactions`, json({}, 'k'), {}]],
      admitted,
    ],
    [
      'a compaction with a focus',
      (session) => session.compact({ source: 'chat', key: 'k', focus: 'harbour' }),
      [accepted],
      [[`POST ${S}/compactions`, json({ focus: 'harbour' }, 'k'), { focus: 'harbour' }]],
      admitted,
    ],
    [
      'undoing the compaction in effect',
      (session) => session.revert({ source: 'chat', key: 'k' }),
      [[200, { compaction: 37 }], accepted],
      [
        [`GET ${S}`, {}],
        [`POST ${S}/compactions/37/revert`, { 'idempotency-key': 'k', 'content-length': '0' }],
      ],
      admitted,
    ],
    [
      'undoing without one in effect',
      (session) => session.revert({ source: 'chat', key: 'k' }),
      [[200, { compaction: null }], accepted],
      [
        [`GET ${S}`, {}],
        [`POST ${S}/compactions/1/revert`, { 'idempotency-key': 'k', 'content-length': '0' }],
      ],
      admitted,
    ],
    [
      'a pin',
      (session) => session.pin({ source: 'chat', key: 'k', name: 'a/b', text: 'x' }),
      [accepted],
      [[`PUT ${S}/pins/a%2Fb`, json({ text: 'x' }, 'k'), { text: 'x' }]],
      admitted,
    ],
    [
      'no pin',
      (session) => session.pin({ source: 'chat', key: 'k', name: 'a', text: null }),
      [accepted],
      [[`DELETE ${S}/pins/a`, { 'idempotency-key': 'k' }]],
      admitted,
    ],
    [
      'an outcome',
      (session) => session.controlOutcome(mail, soon()),
      [[200, { outcome: { kind: 'done' } }]],
      [[`GET ${S}/mailbox/7/outcome`, {}]],
      { kind: 'done' },
    ],
    [
      'an outcome that nobody waits for',
      (session) => session.controlOutcome(mail, AbortSignal.abort()),
      [],
      [],
      null,
    ],
    [
      'entries',
      (session) => session.transcript({ from: 3, to: 5 }),
      [[200, { entries: [1] }]],
      [[`GET ${S}/transcript?from=3&limit=3`, {}]],
      [1],
    ],
    [
      'one entry',
      (session) => session.transcript({ from: 3, to: 3 }),
      [[200, { entries: [1] }]],
      [[`GET ${S}/transcript?from=3&limit=1`, {}]],
      [1],
    ],
    ['no entry', (session) => session.transcript({ from: 3, to: 2 }), [], [], []],
    [
      'entries of no session',
      (session) => session.transcript({ from: 3, to: 3 }),
      [[404, { code: 'unknown-session' }]],
      [[`GET ${S}/transcript?from=3&limit=1`, {}]],
      undefined,
    ],
    [
      'a search',
      (session) => session.search({ text: 'a & b', limit: 4 }),
      [[200, { found: [], total: 0 }]],
      [[`GET ${S}/search?q=a+%26+b&limit=4`, {}]],
      { found: [], total: 0 },
    ],
    [
      'a reply, which takes several requests',
      async (session) => {
        await session.admit(message)
        return await session.reply(mail, soon())
      },
      [accepted, [202, { mail: 7 }], [200, { reply: { text: 'Good day.' } }]],
      [
        [`POST ${S}/messages`, json({ parts }, 'k'), { parts }],
        [`POST ${S}/messages?wait=reply`, json({ parts }, 'k'), { parts }],
        [`POST ${S}/messages?wait=reply`, json({ parts }, 'k'), { parts }],
      ],
      { text: 'Good day.' },
    ],
  ])('is whole: %s', async (_, act, given, expected, result) => {
    answers.push(...given)
    expect(await act(new ServerSession(id, await serve()))).toEqual(result)
    expect(asked).toEqual(expected)
    expect(answers).toEqual([])
  })

  it.each<[Answer, unknown]>([
    [[202, { mail: 7, duplicate: false }], admitted],
    [[409, { code: 'turned-down', mail: 7 }], admitted],
    [[409, { code: 'key-conflict', mail: 7 }], { kind: 'conflict', sessionId: id, mail: 7 }],
    [[429, { code: 'mailbox-full', limit: 5 }], { kind: 'full', limit: 5 }],
    [[404, { code: 'unknown-session' }], { kind: 'unknown' }],
    [[410, { code: 'gone' }], { kind: 'gone' }],
  ])('that gets the answer %j was admitted as that says', async (given, admission) => {
    answers.push(given)
    const session = new ServerSession(id, await serve())
    expect(await session.stop({ source: 'chat', key: 'k' })).toEqual(admission)
  })

  it.each<[object, string]>([
    [{ code: 'x', title: 'No', detail: 'Never' }, 'The server refused: No. Never'],
    [{ code: 'x', title: 'No' }, 'The server refused: No'],
    [{ code: 'x', detail: 'Never' }, 'The server refused: status 418. Never'],
    [{ code: 'x' }, 'The server refused: status 418'],
  ])('that is refused with %j says so', async (body, message) => {
    answers.push([418, body], [418, body])
    const session = new ServerSession(id, await serve())
    await expect(session.stop({ source: 'chat', key: 'k' })).rejects.toThrow(message)
    await expect(session.summary()).rejects.toThrow(message)
  })

  it('waits for no reply to a message of another process, nor twice', async () => {
    const session = new ServerSession(id, await serve())
    const none = 'Message 7 was not sent here.'
    await expect(session.reply(mail, soon())).rejects.toThrow(none)
    answers.push(accepted, [200, { reply: null }])
    await session.admit(message)
    expect(await session.reply(mail, soon())).toBeNull()
    await expect(session.reply(mail, soon())).rejects.toThrow(none)
  })

  it('that is refused is an error, unless nobody waits for its outcome any more', async () => {
    answers.push([500, { code: 'internal', title: 'Broken' }])
    const session = new ServerSession(id, await serve())
    await expect(session.controlOutcome(mail, soon())).rejects.toEqual(refused('Broken'))
  })
})

describe('the events of a session', () => {
  const event = (cursor: number) => `id: ${cursor}\nevent: stored\ndata: {"cursor":${cursor}}\n\n`
  const stored = (cursor: number) => ({ type: 'stored', cursor })
  const withdrawn = { type: 'live', sessionId: id, kind: 'void', turn: 0, step: 0, attempt: '' }
  const stream = { 'content-type': 'text/event-stream' }

  async function read(after: { after?: number }, count: number): Promise<readonly unknown[]> {
    const found: unknown[] = []
    for await (const each of new ServerSession(id, await serve()).events(after, soon())) {
      found.push(each)
      if (found.length === count) break
    }
    return found
  }

  it('go on after the last one when the connection ends, and take back what was partial', async () => {
    const partial = 'event: live\ndata: {"kind":"delta"}\n\n'
    answers.push([200, `${event(3)}${event(4)}${partial}`, stream], [200, event(5), stream])
    expect(await read({}, 5)).toEqual([
      ...[stored(3), stored(4), { type: 'live', kind: 'delta' }],
      withdrawn,
      stored(5),
    ])
    expect(asked).toEqual([
      [`GET ${S}/events`, {}],
      [`GET ${S}/events?after=4`, {}],
    ])
  })

  it('begin after a given one, and may arrive in pieces without a last line break', async () => {
    answers.push([200, `${event(8)}data: {"cut`, stream])
    expect(await read({ after: 7 }, 1)).toEqual([stored(8)])
    expect(asked).toEqual([[`GET ${S}/events?after=7`, {}]])
  })

  it('that the server refuses are an error', async () => {
    answers.push([404, { title: 'No session has this id' }])
    await expect(read({}, 1)).rejects.toEqual(refused('No session has this id'))
  })

  it('end quietly when the client gives up', async () => {
    const requests = new ServerRequests(store)
    const events = new ServerSession(id, requests).events({}, soon())
    const next = events.next()
    requests.giveUp()
    expect(await next).toEqual({ done: true, value: undefined })
  })
})

describe('requests of a chat about sessions', () => {
  const agents = [{ name: 'main' }]
  const open = async (...given: readonly Answer[]) => {
    answers.push([200, { agents }], ...given)
    const runtime = await openServerRuntime(await serve())
    expect([runtime.agents, asked.shift()]).toEqual([agents, ['GET /v1/agents', {}]])
    return runtime
  }
  const route = { channel: 'web', address: 'a' }

  it('make one, with its id and its route', async () => {
    const made: Answer = [201, { sessionId: 's1' }]
    const runtime = await open(made, made)
    const created = { kind: 'created', sessionId: 's1' }
    expect(await runtime.createSession({ agent: 'main' })).toEqual(created)
    expect(await runtime.createSession({ agent: 'main', id, route })).toEqual(created)
    const key = expect.stringMatching(/^[\da-f-]{36}$/)
    const [bare, whole] = [{ agent: 'main' }, { agent: 'main', id: 's1', route }]
    expect(asked).toEqual([
      ['POST /v1/sessions', { ...json(bare), 'idempotency-key': key }, bare],
      ['POST /v1/sessions', { ...json(whole), 'idempotency-key': key }, whole],
    ])
  })

  it('make a new one for a route', async () => {
    const runtime = await open(...([[201, { sessionId: 's2' }]] as const), [
      404,
      { code: 'unknown-agent', agents: ['main'] },
    ])
    const ask = { agent: 'main', ...route, source: 'chat', key: 'k' }
    expect(await runtime.startAfresh(ask)).toEqual({ kind: 'started', sessionId: 's2' })
    const body = { agent: 'main', route, afresh: true }
    expect(asked).toEqual([['POST /v1/sessions', json(body, 'k'), body]])
    expect(await runtime.startAfresh(ask)).toEqual({ kind: 'unknown-agent', agents: ['main'] })
  })

  it.each<[object, unknown]>([
    [
      { code: 'session-exists', sessionId: 's1' },
      { kind: 'exists', sessionId: 's1' },
    ],
    [
      { code: 'route-taken', sessionId: 's1' },
      { kind: 'route-taken', sessionId: 's1' },
    ],
    [
      { code: 'unknown-agent', agents: ['main'] },
      { kind: 'unknown-agent', agents: ['main'] },
    ],
  ])('may be told %j', async (body, created) => {
    const runtime = await open([409, body])
    expect(await runtime.createSession({ agent: 'main' })).toEqual(created)
  })

  it('list them', async () => {
    const listed: Answer = [200, { sessions: [1, 2] }]
    const runtime = await open(listed, listed)
    expect(await runtime.listSessions({ limit: 2 })).toEqual([1, 2])
    expect(await runtime.listSessions({ limit: 2, after: id })).toEqual([1, 2])
    expect(asked).toEqual([
      ['GET /v1/sessions?limit=2', {}],
      ['GET /v1/sessions?limit=2&after=s1', {}],
    ])
  })
})

describe('a server that goes away', () => {
  it('is looked for, and asked again when it is back', async () => {
    const requests = await serve()
    const presences: string[] = []
    requests.onPresence = (presence) => presences.push(presence)
    answers.push([200, { a: 1 }])
    expect(await requests.send({ method: 'GET', path: '/' })).toEqual({
      ...{ status: 200, body: { a: 1 } },
    })
    expect(presences).toEqual([])
    await stop?.()
    const waiting = requests.send({ method: 'GET', path: '/' })
    await expect.poll(() => presences).toEqual(['away'])
    answers.push([204])
    await serve()
    expect(await waiting).toEqual({ status: 204, body: {} })
    expect(presences).toEqual(['away', 'back'])
  })

  it('before it has answered is asked again', async () => {
    const requests = await serve()
    const waiting = requests.send({ method: 'GET', path: '/' })
    await expect.poll(() => asked.length).toBeGreaterThan(0)
    answers.push([200, '[1]'])
    expect(await waiting).toEqual({ status: 200, body: {} })
  })

  it('is not waited for after giving up, nor by a request that was ended', async () => {
    const requests = new ServerRequests(store)
    const ended = requests.send({ method: 'GET', path: '/', signal: AbortSignal.abort('ended') })
    await expect(ended).rejects.toBe('ended')
    requests.giveUp()
    await expect(requests.send({ method: 'GET', path: '/' })).rejects.toEqual(new ServerAwayError())
  })

  it('or asks for a later try gives its last answer to a client that gave up', async () => {
    const requests = await serve()
    requests.giveUp()
    answers.push([503, { code: 'closing' }, { 'retry-after': '60' }])
    expect(await requests.send({ method: 'GET', path: '/' })).toEqual({
      ...{ status: 503, body: { code: 'closing' } },
    })
  })
})
