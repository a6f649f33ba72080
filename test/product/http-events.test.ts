import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { type ReadEvent, readEvents } from '../support/read-events.ts'
import { until } from '../support/until.ts'
import { openPlace, type Place, type PlaceOptions, tokenFor, tokensOf } from './http-place.ts'

const places: Place[] = []
afterEach(async () => {
  for (const place of places.splice(0)) await place.close()
})

async function open(options?: PlaceOptions): Promise<Place> {
  const place = await openPlace(options)
  places.push(place)
  return place
}

/** Events until one is the last that is asked for. */
async function listen(
  place: Place,
  path: string,
  isLast: (event: ReadEvent, all: readonly ReadEvent[]) => boolean,
  headers: Record<string, string> = {},
): Promise<readonly ReadEvent[]> {
  const stop = new AbortController()
  const response = await fetch(place.url + path, { headers, signal: stop.signal })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const all: ReadEvent[] = []
  for await (const event of readEvents(response.body as AsyncIterable<Uint8Array>)) {
    all.push(event)
    if (isLast(event, all)) break
  }
  stop.abort()
  return all
}

const ask = (place: Place, id: string, text: string) =>
  place.call(`/v1/sessions/${id}/messages?wait=reply`, { method: 'POST', body: { text } })
const kindOf = ({ data }: ReadEvent) => (data as { kind?: string }).kind
const isTurnEnd = (event: ReadEvent) => kindOf(event) === 'turn ended'

describe('an event stream', () => {
  it('sends stored events with their cursor as id, and live deltas without an id', async () => {
    const place = await open()
    const id = await place.make()
    let asked: Promise<unknown> | undefined
    const events = await listen(place, `/v1/sessions/${id}/events?after=0`, (event) => {
      if (event.type === 'caught-up') asked = ask(place, id, 'Hello there.')
      return isTurnEnd(event)
    })
    await asked
    const stored = events.filter(({ type }) => type === 'stored')
    expect(stored.map(kindOf)).toEqual(expect.arrayContaining(['session created', 'turn started']))
    const cursors = stored.map((event) => Number(event.id))
    expect(cursors).toEqual(cursors.toSorted((a, b) => a - b))
    expect(cursors).toEqual(stored.map(({ data }) => (data as { cursor: number }).cursor))
    const live = events.filter(({ type }) => type === 'live')
    expect(live.some((event) => kindOf(event) === 'delta')).toBe(true)
    expect(live.every((event) => event.id === null)).toBe(true)
  })

  it('continues after Last-Event-ID without a gap or a repetition', async () => {
    const place = await open()
    const id = await place.make()
    await ask(place, id, 'One.')
    const path = `/v1/sessions/${id}/events`
    const isCaughtUp = (event: ReadEvent) => event.type === 'caught-up'
    const storedIn = (events: readonly ReadEvent[]) =>
      events.filter(({ type }) => type === 'stored').map((event) => event.id)
    const whole = storedIn(await listen(place, `${path}?after=0`, isCaughtUp))
    const first = whole.slice(0, 3)
    const rest = await listen(place, `${path}?after=0`, isCaughtUp, {
      'last-event-id': first.at(-1) ?? '',
    })
    // The session may have been let go meanwhile, which is one more event.
    expect([...first, ...storedIn(rest)].slice(0, whole.length)).toEqual(whole)
    expect(whole.length).toBeGreaterThan(5)
  })

  it('sends events of all sessions, or of one', async () => {
    const place = await open()
    const [one, other] = [await place.make(), await place.make()]
    const isCaughtUp = (event: ReadEvent) => event.type === 'caught-up'
    const sessionsIn = async (path: string) =>
      new Set(
        (await listen(place, path, isCaughtUp))
          .filter(({ type }) => type === 'stored')
          .map(({ data }) => (data as { sessionId: string }).sessionId),
      )
    expect(await sessionsIn('/v1/events?after=0')).toEqual(new Set([one, other]))
    expect(await sessionsIn(`/v1/sessions/${one}/events?after=0`)).toEqual(new Set([one]))
  })

  it('is kept alive by heartbeats, and ended when the server closes', async () => {
    const place = await open({ limits: { heartbeatMs: 10 } })
    const id = await place.make()
    const response = await fetch(`${place.url}/v1/sessions/${id}/events`)
    let text = ''
    const reading = (async () => {
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        text += Buffer.from(chunk).toString()
        if (text.split('\n: \n').length <= 3) continue
        for (const each of places.splice(0)) void each.close()
      }
    })()
    await reading
    expect(text.startsWith('retry: ')).toBe(true)
    expect(text).toContain('\n: \n\n: \n\n')
  })

  it('ends when its token runs out, also if nothing happens', async () => {
    const token = tokenFor('read')
    const place = await open({ tokens: tokensOf(token), limits: { heartbeatMs: 10 } })
    const headers = { authorization: `Bearer ${token.text}` }
    const response = await fetch(`${place.url}/v1/events`, { headers })
    const read = async () => {
      for await (const _ of response.body as AsyncIterable<Uint8Array>) {
        Object.assign(token.record, { expiresAt: 1 })
      }
    }
    await expect(read()).rejects.toThrow()
    expect((await place.call('/v1/agents', { headers })).status).toBe(401)
  })

  it('delivers nothing that happens after its token was revoked by another process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-revoked-'))
    const path = join(folder, 'store.db')
    const store = await openSqliteStore({ path })
    const token = tokenFor('read')
    await store.putToken(token.record)
    const place = await open({ store, tokens: store, runs: false })
    const id = await place.make()
    const headers = { authorization: `Bearer ${token.text}` }
    const response = await fetch(`${place.url}/v1/sessions/${id}/events`, { headers })
    const seen: ReadEvent[] = []
    const reading = async () => {
      for await (const event of readEvents(response.body as AsyncIterable<Uint8Array>)) {
        seen.push(event)
        if (event.type !== 'caught-up') break
        const other = await openSqliteStore({ path })
        await other.removeToken({ id: token.record.id })
        await other.close()
        const parts = [{ type: 'text' as const, text: 'a secret' }]
        await place.runtime.session(sessionId(id)).admit({ source: 'test', key: 'a', parts })
      }
    }
    await expect(reading()).rejects.toThrow()
    expect(seen.map(({ type }) => type)).toEqual(['caught-up'])
    rmSync(folder, { recursive: true })
  })

  it('is refused when too many are open, and its place is free once it ends', async () => {
    const place = await open({ limits: { streamsPerTokenMax: 1 } })
    const id = await place.make()
    const stop = new AbortController()
    await fetch(`${place.url}/v1/sessions/${id}/events`, { signal: stop.signal })
    expect(await place.call('/v1/events')).toMatchObject({
      status: 429,
      json: { code: 'too-many-streams' },
    })
    stop.abort()
    await until(async () => {
      const again = new AbortController()
      const { status } = await fetch(`${place.url}/v1/events`, { signal: again.signal })
      again.abort()
      return status === 200
    })
  })
})
