import { afterEach, describe, expect, it } from 'vitest'
import type { BusyPolicy } from '../../packages/core/src/store/tables/rows.ts'
import { until } from '../support/until.ts'
import type { Follower } from './follower.ts'
import { Journey } from './journey.ts'

/** The usual back-off, a hundred times as fast: half a minute of outage is an hour. */
const SCALED = { modelRetryMs: 300, modelRetryMsMax: 600 }

const opened: Journey[] = []
afterEach(async () => {
  for (const journey of opened.splice(0)) await journey.close()
})

async function open(policy: BusyPolicy): Promise<Journey> {
  const journey = await Journey.open({
    agent: { policy },
    runtime: { settings: SCALED },
    model: {
      script: ({ messages }) => ({ text: `Answer to ${JSON.stringify(messages.at(-1)?.role)}.` }),
    },
  })
  opened.push(journey)
  return journey
}

/** `2: One. | Two.` for a turn with two messages; the turns that were answered, in order. */
async function answers(journey: Journey, id: string): Promise<readonly string[]> {
  const { json } = await journey.call(`/v1/sessions/${id}/transcript?from=1&limit=100`)
  const turns: string[] = []
  let said: string[] = []
  for (const { kind, message, meta } of json.entries) {
    if (kind === 'input') said.push(message.parts[0].text)
    if (kind !== 'turn') continue
    turns.push(`${meta.ended}: ${said.join(' | ')}`)
    said = []
  }
  return turns
}

/** Later tries update a notice that was announced. */
const isAnnounced: Parameters<Follower['until']>[0] = (event) =>
  event.type === 'live' && event.kind === 'notice' && event.isUpdate !== true
const announced = (follower: Follower) =>
  follower.live('notice').filter(({ isUpdate }) => isUpdate !== true)

const MESSAGES = ['One.', 'Two.', 'Three.', 'Four.']

describe('a provider that is down for an hour', () => {
  it('loses no message, reports the outage once, and answers every message in order afterwards', async () => {
    const journey = await open('queue')
    const id = await journey.make()
    const follower = await journey.follow(id)
    const goesOn = journey.model.faults.always('reset-before-headers')
    for (const text of MESSAGES) await journey.say(id, text)
    await follower.until(isAnnounced)
    const asked = journey.model.journal.entries.length
    await until(() => journey.model.journal.entries.length > asked + 6)
    expect((await journey.call(`/v1/sessions/${id}`)).json.state).toBe('waiting-for-model')
    goesOn()
    await follower.turnEnd(1)
    expect(announced(follower).map(({ code }) => code)).toEqual(['waiting-for-model'])
    await until(async () => (await journey.call(`/v1/sessions/${id}`)).json.state === 'idle')
    const turns = await answers(journey, id)
    expect(turns.join(' | ').replaceAll('answered: ', '')).toBe(MESSAGES.join(' | '))
  })

  it('does the same when the server restarts meanwhile, more often than a turn may crash', async () => {
    const journey = await open('queue')
    const id = await journey.make()
    const goesOn = journey.model.faults.always('reset-before-headers')
    for (const text of MESSAGES) {
      await journey.say(id, text)
      await until(
        async () => (await journey.call(`/v1/sessions/${id}`)).json.state === 'waiting-for-model',
      )
      // Whoever comes now is shown what the session waits for; further tries say nothing more.
      const follower = await journey.follow(id)
      await follower.until(isAnnounced)
      const asked = journey.model.journal.entries.length
      await until(() => journey.model.journal.entries.length > asked + 2)
      expect(announced(follower)).toHaveLength(1)
      await journey.end()
      await journey.start()
    }
    goesOn()
    await until(async () => (await journey.call(`/v1/sessions/${id}`)).json.state === 'idle')
    const turns = await answers(journey, id)
    expect(turns.join(' | ').replaceAll('answered: ', '')).toBe(MESSAGES.join(' | '))
  })

  it('lets a stop end the waiting turn at once', async () => {
    const journey = await open('steer')
    const id = await journey.make()
    const follower = await journey.follow(id)
    journey.model.faults.always('reset-before-headers')
    await journey.say(id, 'One.')
    await follower.until(isAnnounced)
    await journey.stop(id)
    expect(await follower.turnEnd()).toMatchObject({ facts: { ended: 'stopped' } })
    journey.model.faults.clear()
    expect((await journey.ask(id, 'Two.')).reply).toMatchObject({ ended: 'answered', turn: 2 })
  })
})
