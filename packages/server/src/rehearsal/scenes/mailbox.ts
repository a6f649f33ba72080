import { mailNumber, sessionId } from '#core/base/ids'
import { isObject, type JsonValue } from '#core/base/json'
import { entryKindOf, long, type Stage } from '../stage/stage.ts'

/** Messages: delivered once and in order, withdrawn, interrupting, and bounded. */

export async function withdrawn(stage: Stage): Promise<void> {
  const name = await stage.open('scene-withdrawn')
  const answering = await stage.inject(stage.first, 'commitReply', 'hold', name)
  const first = await stage.say(name, 'Good morning.')
  await stage.untilMet(answering)
  const taken = await stage.say(name, 'This one is taken back.')
  const outcome = await stage.withdraw(name, taken)
  if (outcome !== 'withdrawn') throw new Error(`a waiting message was ${outcome}`)
  stage.release(answering)
  await stage.ended(name, first)
  await stage.ended(name, await stage.say(name, 'Good evening.'))
  const isThere = (await stage.entries(name)).some(
    (entry) => entry.kind === 'input' && entry.meta.mail === taken,
  )
  if (isThere) stage.broken('mailed', `mail ${taken} of ${name} was withdrawn and delivered`)
}

/** A stop while idle, or just before a turn begins, does nothing; during a turn it ends it. */
export async function stops(stage: Stage): Promise<void> {
  const name = await stage.open('scene-stops')
  await stage.ended(name, await stage.say(name, 'Good morning.'))
  await stage.stop(name)
  const next = await stage.ended(name, await stage.say(name, 'What now?'))
  if (next !== 'answered') stage.broken('stopped', `${name}: a stop at rest, and a turn ${next}`)
  const beginning = await stage.inject(stage.first, 'deliver', 'hold', name)
  const early = await stage.say(name, 'And this?')
  await stage.untilMet(beginning)
  await stage.stop(name)
  stage.release(beginning)
  const begun = await stage.ended(name, early)
  if (begun !== 'answered') stage.broken('stopped', `${name}: an early stop, and a turn ${begun}`)
  stage.model.spoil(name, 'latency; ms=60000')
  const stopped = await stage.say(name, 'This one takes too long.')
  await stage.untilTurn(name)
  await stage.stop(name)
  const ended = await stage.ended(name, stopped)
  if (ended !== 'stopped') stage.broken('stopped', `${name}: a stopped turn ended ${ended}`)
  stage.model.heal(name)
  const last = await stage.ended(name, await stage.say(name, 'And now?'))
  if (last !== 'answered') stage.broken('stopped', `${name}: the turn behind a stop ended ${last}`)
}

/** The same update through two agents, over a connection that refuses, loses and repeats. */
export async function twins(stage: Stage): Promise<void> {
  const one = await stage.open('scene-twin')
  const other = await stage.open('scene-twins')
  const update = (to: string, key: string) =>
    stage.ask({
      ...{ what: 'admit', sessionId: to, source: 'webhook', key },
      ...{ lane: 'user', text: `Update ${key}.` },
    })
  const first = await update(one, 'update-1')
  // One key means one message; a caller that names another session does not learn of it.
  for (const [to, kind] of [
    [other, 'conflict'],
    [one, 'duplicate'],
  ] as const) {
    const again = await update(to, 'update-1').catch((error: unknown) => String(error))
    const isKnown = entryKindOf(again) === kind && same(again, first)
    if (!isKnown) stage.broken('mailed', `update-1 once more, to ${to}: ${JSON.stringify(again)}`)
  }
  for (const fault of ['refuse', 'lose'] as const) {
    const key = `update-${fault}`
    const met = await stage.inject(stage.first, 'admit', fault, one)
    const sent = await update(one, key).catch(() => null)
    await stage.untilMet(met)
    const mail = isObject(sent) ? sent['mail'] : null
    if (typeof mail === 'number' && !(await isKept(stage, one, key, mail))) {
      stage.broken('mailed', `${key} was acknowledged as mail ${mail} and is not there`)
    }
    await update(one, key)
  }
}

function same(left: JsonValue, right: JsonValue): boolean {
  if (!isObject(left) || !isObject(right)) return false
  return left['sessionId'] === right['sessionId'] && left['mail'] === right['mail']
}

async function isKept(stage: Stage, name: string, key: string, mail: number): Promise<boolean> {
  const after = mailNumber(mail - 1)
  const query = { sessionId: sessionId(name), after, limit: 1 }
  const [item] = await stage.store.listMail(query)
  return item?.number === mail && item.key === key
}

const PEOPLE = 13

/** A dozen people and some watchers write during a turn; all are answered, people first. */
export async function lanes(stage: Stage): Promise<void> {
  const name = await stage.open('scene-lanes')
  const answering = await stage.inject(stage.first, 'commitReply', 'hold', name)
  const first = await stage.say(name, 'Good morning.')
  await stage.untilMet(answering)
  for (let at = 0; at < 3; at++) await stage.say(name, `Watch ${at}.`, { lane: 'notification' })
  const people = []
  for (let at = 1; at <= PEOPLE; at++) people.push(await stage.say(name, `And I, number ${at}?`))
  stage.release(answering)
  await stage.ended(name, first)
  for (const mail of people) await stage.ended(name, mail)
}

/** A person writes while a reply with a call is streaming. */
export async function between(stage: Stage): Promise<void> {
  const name = await stage.open('scene-between')
  const answering = await stage.inject(stage.first, 'commitReply', 'hold', name)
  const first = await stage.say(name, 'use hand_over {"parcel":"scene-between"}')
  await stage.untilMet(answering)
  const second = await stage.say(name, 'What takes so long?')
  stage.release(answering)
  for (const mail of [first, second]) await stage.ended(name, mail)
}

/** Under `interrupt` a person may interrupt an answer, a watcher may not. */
export async function notified(stage: Stage): Promise<void> {
  const name = await stage.open('scene-notified')
  stage.model.spoil(name, 'latency; ms=2000')
  const first = await stage.say(name, 'Tell me a long story.')
  await stage.untilTurn(name)
  await stage.say(name, 'A line was printed.', { lane: 'notification' })
  const ended = await stage.ended(name, first)
  if (ended !== 'answered') stage.broken('stopped', `${name}: a notification, and a turn ${ended}`)
  stage.model.heal(name)
}

/** Long messages during an outage: messages that no model has seen do not fill the context. */
export async function bound(stage: Stage): Promise<void> {
  const name = await stage.open('scene-bound')
  stage.model.spoil(name, 'status; code=503')
  const { inputTokens } = (await stage.row(name)).limits
  const size = Math.floor(inputTokens * 0.7)
  const sent = []
  for (let at = 0; at < 3; at++) sent.push(await stage.say(name, long(`Page ${at}`, size)))
  await stage.pause(700)
  stage.model.heal(name)
  for (const mail of sent) await stage.ended(name, mail)
}

/** A message larger than the window. */
export async function huge(stage: Stage): Promise<void> {
  const name = await stage.open('scene-huge')
  const { hardTokens } = (await stage.row(name)).limits
  const ended = await stage.ended(name, await stage.say(name, long('A book', hardTokens * 2)))
  if (ended !== 'answered') stage.broken('fits', `${name}: a long message, and a turn ${ended}`)
  const tokens = stage.model.tokensMaxOf(name)
  if (tokens > hardTokens) stage.broken('fits', `${name}: a request of ${tokens} tokens`)
}
