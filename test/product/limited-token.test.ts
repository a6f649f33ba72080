import { afterEach, describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '../../packages/core/src/base/ids.ts'
import { StoreFixture } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { bearer, openPlace, type Place, tokenFor, tokensOf } from './http-place.ts'

/** What a token for one session learns of the others. */
const places: Place[] = []
afterEach(async () => {
  for (const place of places.splice(0)) await place.close()
})

async function openTwo() {
  const store = openMemoryStore()
  const [mine, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
  await mine.exchange('hello', 'hi')
  await other.exchange('hello', 'hi')
  const limited = tokenFor('write', `session:${mine.id}`)
  const whole = tokenFor('write')
  const place = await openPlace({ store, tokens: tokensOf(limited, whole), runs: false })
  places.push(place)
  const call = (token: typeof limited, path: string, method = 'GET', body?: unknown) => {
    const sent = body === undefined ? {} : { body }
    return place.call(`/v1/sessions/${mine.id}${path}`, { method, ...sent, headers: bearer(token) })
  }
  return { store, mine, other, limited, whole, call }
}

describe('a token for one session', () => {
  it('is not shown the ids of forks that it cannot read', async () => {
    const { limited, whole, call } = await openTwo()
    const fork = await call(whole, '/forks', 'POST', { at: 1, id: 'secret-fork' })
    expect(fork.status).toBe(201)
    const hidden = await call(limited, '', 'DELETE')
    expect(hidden).toMatchObject({ status: 409, json: { code: 'has-forks', forks: [] } })
    expect(hidden.text).not.toContain('secret-fork')
    expect((await call(whole, '', 'DELETE')).json).toMatchObject({ forks: ['secret-fork'] })
  })

  it('reads the notes of its session, but not in which other session they were made', async () => {
    const { store, mine, other, limited, whole, call } = await openTwo()
    const { agent, scope } = await mine.row()
    const note = (id: string, from: string) =>
      store.putNote({
        ...{ agent, scope, id, text: `made in ${id}`, isInherited: true },
        origin: { sessionId: sessionId(from), number: entryNumber(1) },
      })
    await note('here', mine.id)
    await note('elsewhere', other.id)
    const origins = async (token: typeof limited) => {
      const { json } = await call(token, '/memory')
      return json.notes.map((each: { origin: { sessionId: string } | null }) => each.origin)
    }
    const here = { sessionId: mine.id, entry: 1 }
    expect(await origins(limited)).toEqual([null, here])
    expect(await origins(whole)).toEqual([{ sessionId: other.id, entry: 1 }, here])
  })
})

describe('health checks', () => {
  it('are answered when other callers at the same address have used up the limit', async () => {
    const place = await openPlace({ limits: { requestsPerMinute: 1 } })
    places.push(place)
    const statuses = async (path: string) => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => place.call(path)))
      return answers.map(({ status }) => status).toSorted()
    }
    expect(await statuses('/openapi.json')).toContain(429)
    expect(await statuses('/readyz')).toEqual([200, 200, 200, 200, 200])
    expect(await statuses('/healthz')).toEqual([200, 200, 200, 200, 200])
  })
})
