import { expect, it } from 'vitest'
import { byHand, sqlitePlace } from '../support/sqlite-place.ts'
import { openPlace } from './http-place.ts'

const { newPath, open } = sqlitePlace()
const SAY = { method: 'POST', body: { text: 'say hello' } }

it('answers store-damaged for a damaged session, names it on the health page, and serves the others [I26]', async () => {
  const path = newPath()
  const before = await openPlace({ store: await open(path) })
  const [harmed, sound] = [await before.make(), await before.make()]
  for (const id of [harmed, sound]) {
    await before.call(`/v1/sessions/${id}/messages?wait=reply`, SAY)
  }
  await before.close()
  byHand(
    path,
    `drop trigger entry_changes_by_erasure_only;
     update entry set body = replace(body, 'hello', 'jello') where id >> 31 = 1`,
  )

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
})
