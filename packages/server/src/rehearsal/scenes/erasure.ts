import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isObject, type JsonValue } from '#core/base/json'
import { LIST_MAX } from '#core/store/bounds'
import type { Entry } from '#core/store/tables/rows'
import { entryKindOf, type Stage } from '../stage/stage.ts'
import { openLocation, removeLocation } from '../stage/store-location.ts'

/** Purging and exporting: erased content is gone everywhere, and nothing else is. */

export async function erased(stage: Stage): Promise<void> {
  const name = await stage.open('scene-erased')
  const secret = `quicksilver-${randomBytes(6).toString('hex')}`
  const order = `My word is ${secret}.\nsay Your word is ${secret}.`
  const mail = await stage.say(name, order, { address: 'home' })
  await stage.ended(name, mail)
  await stage.fill(name, [1_000, 1_000])
  await stage.compact(name)
  const telling = (await stage.entries(name)).filter(({ body }) => body?.includes(secret) === true)
  const wanted = telling.filter(({ kind }) => kind === 'input' || kind === 'assistant')
  if (wanted.length < 2) throw new Error('nobody said the word')
  // Otherwise the outbox would prove nothing.
  const replies = await repliesOf(stage, name)
  if (!replies.some(({ body }) => body?.includes(secret)))
    throw new Error('no reply holds the word')
  await purge(stage, name, wanted)

  const locations: readonly (readonly [string, readonly (string | null)[]])[] = [
    ['the transcript', (await stage.entries(name)).map(({ body }) => body)],
    ['the mailbox', (await mailOf(stage, name)).map(({ body }) => body)],
    ['the outbox', (await repliesOf(stage, name)).map(({ body }) => body)],
    ['the search', await found(stage, name, secret)],
  ]
  for (const [location, texts] of locations) {
    if (texts.some((text) => text?.includes(secret))) {
      stage.broken('forgotten', `${name}: a word that was erased is in ${location}`)
    }
  }
  const first = Math.min(...wanted.map(({ number }) => number))
  for (const entry of await stage.entries(name)) {
    const tells = entry.kind === 'compaction' && entry.meta.covers >= first && entry.body !== null
    if (tells)
      stage.broken('forgotten', `${name}: handoff ${entry.number} tells of what was erased`)
  }
  if ((await stage.ended(name, await stage.say(name, 'What do you know?'))) !== 'answered') {
    stage.broken('forgotten', `${name} does not go on`)
  }
}

async function purge(stage: Stage, name: string, entries: readonly Entry[]): Promise<void> {
  const before = (await stage.entries(name)).filter(({ kind }) => kind === 'erasure').length
  const numbers = entries.map(({ number }) => number as number)
  await stage.do(name, 'purge', { entries: numbers, reason: 'rehearsal' })
  await stage.until(`${name}: ${numbers} are erased`, async () => {
    return (await stage.entries(name)).filter(({ kind }) => kind === 'erasure').length > before
  })
}

async function mailOf(stage: Stage, name: string) {
  const { id } = await stage.row(name)
  return await stage.store.listMail({ sessionId: id, limit: LIST_MAX })
}

async function repliesOf(stage: Stage, name: string) {
  const { id } = await stage.row(name)
  return await stage.store.listReplies({ sessionId: id, limit: LIST_MAX })
}

async function found(stage: Stage, name: string, text: string): Promise<readonly string[]> {
  const { id } = await stage.row(name)
  const { hits } = await stage.store.search({ sessionId: id, text, limit: 5, neighbours: 0 })
  return hits.map(({ entry }) => entry.body ?? '')
}

/** An image in two messages is one file, deleted with the second message. */
export async function images(stage: Stage): Promise<void> {
  const name = await stage.open('scene-images')
  const picture = randomBytes(3_000).toString('base64')
  for (const text of ['Look at this.', 'And once more.']) {
    await stage.ended(name, await stage.say(name, text, { picture }))
  }
  const inputs = (await stage.entries(name)).filter((entry) => entry.kind === 'input')
  const [one, other] = inputs
  const hash = one?.meta.blobs[0]
  if (one === undefined || other === undefined || hash === undefined) {
    throw new Error('the picture was not kept as a file')
  }
  const { id } = await stage.row(name)
  const isThere = async () => (await stage.store.findBlob({ sessionId: id, hash })) !== undefined
  const mustBeThere = async (when: string) => {
    if (!(await isThere())) stage.broken('forgotten', `${name}: a picture in use is gone ${when}`)
  }
  await stage.ask({ what: 'sweep', sessionId: name })
  await mustBeThere('behind a sweep')
  await purge(stage, name, [one])
  await mustBeThere('with another message')
  await purge(stage, name, [one])
  await mustBeThere('with another message that was purged twice')
  await purge(stage, name, [other])
  if (await isThere()) stage.broken('forgotten', `${name}: a picture that nobody uses is kept`)
}

/** A session is exported, imported where it already exists, and imported into an empty store. */
export async function carried(stage: Stage): Promise<void> {
  const name = await stage.open('scene-carried')
  await stage.fill(name, [800, 800])
  await stage.compact(name)
  await stage.untilFree(name)
  const lines = linesOf(await stage.ask({ what: 'export', sessionId: name }))
  const again = await stage.ask({ what: 'import', sessionId: name, lines })
  const isSame = entryKindOf(again) === 'exists' && isObject(again) && again['sessionId'] === name
  if (!isSame) stage.broken('carried', `${name} where it is already: ${JSON.stringify(again)}`)
  const location = { kind: 'sqlite', path: join(stage.folder, 'carried.db') } as const
  const store = await openLocation(location)
  try {
    const outcome = await store.importSession(lines)
    if (outcome.kind !== 'imported') stage.broken('carried', `${name}: ${outcome.kind}`)
    for (const { problem } of await store.verify({})) stage.broken('carried', `${name}: ${problem}`)
    const { id, tail } = await stage.row(name)
    const carriedOver = await store.findSession(id)
    if (carriedOver?.tail !== tail) stage.broken('carried', `${name} is not whole`)
  } finally {
    await store.close()
    await removeLocation(location)
  }
}

function linesOf(value: JsonValue): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : []
}

export async function deleted(stage: Stage): Promise<void> {
  const name = await stage.open('scene-deleted')
  await stage.ended(name, await stage.say(name, 'Nobody shall know.', { address: 'home' }))
  await stage.do(name, 'purge', { entries: 'all', reason: 'rehearsal' })
  const { state } = await stage.row(name)
  if (state !== 'gone') stage.broken('forgotten', `${name} was purged and is ${state}`)
  const kept = [
    ...(await stage.entries(name)).map(({ body }) => body),
    ...(await mailOf(stage, name)).map(({ body }) => body),
    ...(await repliesOf(stage, name)).map(({ body }) => body),
  ]
  if (kept.some((body) => body !== null)) {
    stage.broken('forgotten', `${name} was purged, and its words are still there`)
  }
}
