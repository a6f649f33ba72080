import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import {
  ServerAwayError,
  ServerRequests,
} from '../../packages/server/src/cli/server-client/requests.ts'
import { openServerRuntime } from '../../packages/server/src/cli/server-client/server-runtime.ts'
import { serveHttp } from '../../packages/server/src/gateway/http/serve.ts'
import {
  findServers,
  prepareAnnouncement,
  removeDeadServers,
} from '../../packages/server/src/host/served-store.ts'
import { openPlace, type Place } from '../product/http-place.ts'

let folder: string
let place: Place
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'throughline-client-'))
  place = await openPlace()
})
afterEach(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})

async function announce() {
  const announcement = prepareAnnouncement(join(folder, 'a.db'))
  const sockets = announcement.socket === null ? [] : [announcement.socket]
  const served = await serveHttp({ runtime: place.runtime, sockets })
  announcement.publish(served.url)
  return {
    ...announcement,
    close: async () => {
      announcement.withdraw()
      await served.close()
    },
  }
}

it('a stream that lost its server misses no stored event and sees none twice', async () => {
  const first = await announce()
  const runtime = await openServerRuntime(new ServerRequests(join(folder, 'a.db')))
  await runtime.createSession({ agent: 'main', id: 's' })
  const session = runtime.session(sessionId('s'))
  const ending = new AbortController()
  const events = session.events({}, ending.signal)[Symbol.asyncIterator]()
  expect((await events.next()).value).toMatchObject({ type: 'caught-up' })
  await first.close()
  const own = place.runtime.session(sessionId('s'))
  const said = { source: 'test', key: 'm1', parts: [{ type: 'text', text: 'Hello.' }] } as const
  const admission = await own.admit(said)
  if (admission.kind !== 'admitted') throw new Error(admission.kind)
  await own.reply(admission.mail, ending.signal)
  const second = await announce()
  const kinds: string[] = []
  for (let at = await events.next(); !at.done; at = await events.next()) {
    if (at.value.type === 'caught-up') break
    if (at.value.type === 'stored') kinds.push(at.value.kind)
  }
  expect(kinds.filter((kind) => kind === 'message admitted')).toHaveLength(1)
  expect(kinds.filter((kind) => kind === 'turn ended')).toHaveLength(1)
  ending.abort()
  await second.close()
})

it('a repeated message is the same message, and its reply is waited for', async () => {
  const server = await announce()
  const requests = new ServerRequests(join(folder, 'a.db'))
  const presences: string[] = []
  requests.onPresence = (presence) => presences.push(presence)
  const runtime = await openServerRuntime(requests)
  await runtime.createSession({ agent: 'main', id: 's' })
  // A server that was there all the time does not come back.
  expect(presences).toEqual([])
  const session = runtime.session(sessionId('s'))
  const said = { source: 'test', key: 'm1', parts: [{ type: 'text', text: 'Hello.' }] } as const
  const admission = await session.admit(said)
  expect(admission).toMatchObject({ kind: 'admitted', mail: 1 })
  expect(await session.admit(said)).toMatchObject({ kind: 'duplicate', mail: 1 })
  if (!('mail' in admission)) throw new Error(admission.kind)
  const signal = AbortSignal.timeout(60_000)
  expect(await session.reply(admission.mail, signal)).toMatchObject({ ended: 'answered' })
  await server.close()
})

it('asks again when the server has no time, and not when a mailbox is full', async () => {
  const answers = [
    { status: 503, code: 'closing' },
    { status: 429, code: 'too-many-requests' },
    { status: 429, code: 'mailbox-full' },
  ]
  const server = createServer((_, response) => {
    const { status, code } = answers.shift() ?? { status: 200, code: 'asked too often' }
    response.writeHead(status, { 'retry-after': '0' }).end(JSON.stringify({ code }))
  })
  const announcement = prepareAnnouncement(join(folder, 'a.db'))
  await new Promise<void>((listening) => {
    server.listen(announcement.socket ?? expect.fail('no socket here'), listening)
  })
  announcement.publish('http://127.0.0.1:1')
  const requests = new ServerRequests(join(folder, 'a.db'))
  expect(await requests.send({ method: 'GET', path: '/' })).toEqual({
    ...{ status: 429, body: { code: 'mailbox-full' } },
  })
  announcement.withdraw()
  server.close()
})

it('what the server refuses is an error with its reason, and no later try is of use', async () => {
  const server = await announce()
  const runtime = await openServerRuntime(new ServerRequests(join(folder, 'a.db')))
  const asked = runtime.createSession({ agent: 'main', id: 'not an id' })
  await expect(asked).rejects.toMatchObject({
    name: 'ServerRefusedError',
    code: 'server-refused',
    retryable: false,
    message: 'The server refused: The request does not have the form of this route',
  })
  // The other error of a client, for which a later try is of use.
  expect(new ServerAwayError()).toMatchObject({
    ...{ name: 'ServerAwayError', code: 'server-away', retryable: true },
  })
  await server.close()
})

it('finds no server that was killed or withdrawn, and removes its files', async () => {
  const url = join(folder, 'a.db')
  expect(await findServers(url)).toEqual([])
  const server = await announce()
  expect(await findServers(url)).toHaveLength(1)
  // As a killed server leaves it: the name of a socket that nothing listens on.
  const left = join(folder, 'servers', 'dead.json')
  writeFileSync(left, JSON.stringify({ url: 'http://127.0.0.1:1', socket: `${left}.sock` }))
  expect(await findServers(url)).toHaveLength(1)
  await removeDeadServers(url)
  expect(
    readdirSync(join(folder, 'servers')).filter((name) => name.endsWith('.json')),
  ).toHaveLength(1)
  await server.close()
  expect(readdirSync(join(folder, 'servers'))).toEqual([])
})
