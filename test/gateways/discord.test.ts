import { afterEach, describe, expect, it } from 'vitest'
import { DiscordPlace } from './discord-place.ts'

const open: DiscordPlace[] = []

async function place(...terms: Parameters<typeof DiscordPlace.open>): Promise<DiscordPlace> {
  const opened = await DiscordPlace.open(...terms)
  open.push(opened)
  return opened
}

afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

/** A person who talks with a bot in a chat of their own. */
async function talk() {
  const here = await place()
  const user = here.addBot('helper')
  const person = here.world.addPerson('ada')
  const dm = here.world.dmOf(user, person.id)
  const terms = { allow: { chats: [], users: [person.id] } }
  const bot = await here.connect(user, terms)
  return { here, user, person, dm, bot, terms }
}

describe('discord', () => {
  it('answers in a chat of two', async () => {
    const { here, dm, person, user } = await talk()
    here.discord.say(dm, { author: person, content: 'hello' })
    expect(await here.untilSaid(dm, user, 1)).toEqual(['heard: hello'])
  })
})
