import { expect, it } from 'vitest'
import { byHand, count, sqlitePlace } from '../support/sqlite-place.ts'
import { until } from '../support/until.ts'
import { openPlace } from './http-place.ts'

const { newPath, open } = sqlitePlace()
const SAY = { method: 'POST', body: { text: 'say hello' } }

it.each([
  `update entry set body = replace(body, 'hello', 'jello') where id >> 31 = 1`,
  'update entry set body = null, salt = null where id = 1 << 31 | 2',
  `update session set state = 'erasing' where n = 1`,
  `update session set state = 'gone' where n = 1`,
])(
  '%s: answers store-damaged for this session, names it on the health page, erases nothing and serves the others [I26]',
  async (harm) => {
    const path = newPath()
    const before = await openPlace({ store: await open(path) })
    const [harmed, sound] = [await before.make(), await before.make()]
    for (const id of [harmed, sound]) {
      await before.call(`/v1/sessions/${id}/messages?wait=reply`, SAY)
    }
    await before.close()
    byHand(path, `drop trigger entry_changes_by_erasure_only; ${harm}`)
    const texts = 'select count(body) as n from entry where id >> 31 = 1'
    const kept = count(path, texts)

    const place = await openPlace({ store: await open(path) })
    const answers = await Promise.all([
      place.call(`/v1/sessions/${harmed}/messages`, SAY),
      place.call(`/v1/sessions/${harmed}/transcript`),
      place.call(`/v1/sessions/${harmed}/context`),
    ])
    expect(answers.map(({ status, json }) => [status, json.code])).toEqual([
      [500, 'store-damaged'],
      [500, 'store-damaged'],
      [500, 'store-damaged'],
    ])
    expect((await place.call('/v1/health')).json.problems.join()).toContain(harmed)
    const reply = await place.call(`/v1/sessions/${sound}/messages?wait=reply`, SAY)
    expect(reply.status).toBe(200)
    expect(reply.text).toContain('hello')
    await place.close()
    expect(count(path, texts)).toBe(kept)
  },
)

it.each([
  `update word_total set totals = '('`,
  'update passage_block set entries = zeroblob(length(entries)), lengths = zeroblob(length(lengths))',
])('%s: a search answers store-damaged, and the sessions go on [I26]', async (harm) => {
  const path = newPath()
  const before = await openPlace({ store: await open(path) })
  const id = await before.make()
  await before.call(`/v1/sessions/${id}/messages?wait=reply`, SAY)
  const isIndexed = 'select count(*) as n from session join indexed on session = n and upto = tail'
  await until(() => count(path, isIndexed) === 1)
  await before.close()
  byHand(path, harm)

  const place = await openPlace({ store: await open(path) })
  for (const asked of [`/v1/sessions/${id}/search?q=hello`, '/v1/search?q=hello']) {
    const { status, json } = await place.call(asked)
    expect([status, json.code]).toEqual([500, 'store-damaged'])
  }
  const { problems } = (await place.call('/v1/health')).json
  expect(problems).toEqual([expect.stringContaining('search index')])
  const reply = await place.call(`/v1/sessions/${id}/messages?wait=reply`, SAY)
  expect(reply.status).toBe(200)
  await place.close()
})
