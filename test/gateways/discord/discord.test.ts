import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/core/src/base/clock.ts'
import { SILENT } from '../../../packages/core/src/base/logger.ts'
import { textOf } from '../../../packages/core/src/message/text.ts'
import { isNotice } from '../../../packages/server/src/gateway/discord/bot-loop-guard.ts'
import { DiscordPlatform } from '../../../packages/server/src/gateway/discord/discord.ts'
import type { Script } from '../../../packages/server/src/stand-in/index.ts'
import { LOOP_RULE } from '../../../packages/server/src/tools/send-message/loop.ts'
import type { Tool } from '../../../packages/server/src/tools/tool.ts'
import { until } from '../../support/until.ts'
import { describeChatPlatform } from '../contract.ts'
import { openDiscordChat } from './chat-place.ts'
import { type BotTerms, DiscordPlace, ECHO, SUMMARIES, tokenOf } from './place.ts'
import type { ChannelRow, UserRow } from './world.ts'

const QUIET_MS = 300
const open: DiscordPlace[] = []

async function place(script?: Script): Promise<DiscordPlace> {
  const opened = await DiscordPlace.open({ script: script ?? ECHO })
  open.push(opened)
  return opened
}

afterAll(async () => {
  await Promise.all(open.map((each) => each.close()))
})

/** A person who talks with a bot in a chat of their own. */
async function talk(script?: Script) {
  const here = await place(script)
  const user = here.addBot('helper')
  const person = here.world.addPerson('ada')
  const dm = here.world.dmOf(user, person.id)
  const terms = { allow: { chats: [], users: [person.id] } }
  const bot = await here.connect(user, terms)
  const say = (content: string) => here.discord.say(dm, { author: person, content })
  return { here, user, person, dm, bot, terms, say }
}

/** A channel with a bot and a person in it. */
async function channel(terms: BotTerms = {}) {
  const here = await place()
  const user = here.addBot('helper')
  const person = here.world.addPerson('ada')
  const room = here.world.addChannel()
  const bot = await here.connect(user, { allow: { chats: [room.id], users: [] }, ...terms })
  return { here, user, person, room, bot }
}

describeChatPlatform('Discord', openDiscordChat)

describe.concurrent('discord', () => {
  it('survives a message in a channel that discord.js cannot read', async () => {
    const { here, user, person, room } = await channel()
    const content = `<@${user.id}> raw`
    for (const field of ['author', 'attachments', 'embeds', 'mentions', 'components', 'poll']) {
      for (const value of [7, null, [null], { length: 1 }]) {
        here.discord.sayRaw(room, { author: person, content }, { [field]: value })
      }
    }
    here.discord.say(room, { author: person, content: `<@${user.id}> and now` })
    // An unhandled rejection fails the whole run.
    await until(() => here.said(room, user).some((text) => text.includes('and now')))
  })

  it('answers in a channel only messages that name it or reply to it', async () => {
    const { here, user, person, room } = await channel()
    here.discord.say(room, { author: person, content: 'hello everybody' })
    here.discord.say(room, { author: person, content: `<@${user.id}> hello` })
    const [first] = await here.untilSaid(room, user, 1)
    expect(first).toBe('heard: ada: hello')
    const answers = here.messagesOf(room, user)[0]?.id ?? ''
    here.discord.say(room, { author: person, content: 'and again', answers })
    expect((await here.untilSaid(room, user, 2))[1]).toBe(
      'heard: > heard: ada: hello\n\nada: and again',
    )
  })

  it('ignores a stranger with any name, and still answers the others', async () => {
    const { here, user, person, room } = await channel()
    const stranger = here.world.addPerson("$'".repeat(8))
    // Each name repeated the rest of the text, until no string could hold it; then the channel was
    // read again and again from here.
    const forms = [`<@${stranger.id}>`, `<@!${stranger.id}>`].map((form) => form.repeat(40))
    here.discord.say(room, { author: stranger, content: forms.join(''), mentions: [stranger] })
    here.discord.say(room, { author: person, content: `<@${user.id}> hello` })
    expect(await here.untilSaid(room, user, 1)).toEqual(['heard: ada: hello'])
  })

  it('gives each thread of a channel a session of its own', async () => {
    const { here, user, person, room, bot } = await channel({ needsMention: false })
    const thread = here.world.addChannel(room)
    here.discord.say(room, { author: person, content: 'one' })
    here.discord.say(thread, { author: person, content: 'two' })
    await here.untilSaid(room, user, 1)
    await here.untilSaid(thread, user, 1)
    const routes = [room, thread].map(({ id: address }) =>
      bot.runtime.findRoute({ agent: 'main', channel: `discord:${user.id}`, address }),
    )
    expect(new Set(await Promise.all(routes)).size).toBe(2)
  })

  it('continues in a thread without being named again, unless someone else is named', async () => {
    const { here, user, person, room } = await channel()
    const thread = here.world.addChannel(room)
    const other = here.world.addPerson('bob')
    const say = (content: string, mentions: readonly UserRow[] = []) =>
      here.discord.say(thread, { author: person, content, mentions })
    say('nobody yet')
    say(`<@${user.id}> one`)
    await here.untilSaid(thread, user, 1)
    say(`<@${other.id}> not you`, [other])
    say('two')
    expect(await here.untilSaid(thread, user, 2)).toEqual(['heard: ada: one', 'heard: ada: two'])
  })

  it('notifies no one, for any text of the model', async () => {
    const { here, dm, user, person, say } = await talk()
    say(`<@${person.id}> @everyone`)
    await here.untilSaid(dm, user, 1)
    const [message] = here.messagesOf(dm, user)
    expect(message?.content).toContain('@everyone')
    expect(message?.mentions).toEqual([])
  })

  it('causes no preview of a link, for any text of the model', async () => {
    const { here, dm, user, person, say } = await talk()
    say('see [this](https://evil.example/?q=secret) https://evil.example/secret')
    await here.untilSaid(dm, user, 1)
    const search = here.discord.interact(dm, person, user, {
      ...{ name: 'search', options: { words: 'secret' } },
    })
    await here.until(() => search.answers.length > 0)
    expect(search.answers[0]).toContain('https://evil.example/secret')
    expect(here.messagesOf(dm, user)[0]?.content).toContain('https://evil.example/secret')
    expect(here.discord.previewed).toEqual([])
  })

  it('splits a long answer, within the length that Discord takes', async () => {
    const line = 'All work and no play makes a dull answer.\n'
    const { here, dm, user, say } = await talk(() => ({
      text: `\`\`\`text\n${line.repeat(120)}\`\`\``,
    }))
    say('tell me')
    await here.untilSaid(dm, user, 3)
    const said = here.said(dm, user)
    for (const each of said) {
      expect(each.length).toBeLessThanOrEqual(2_000)
      expect(each.startsWith('```text\n') && each.endsWith('```')).toBe(true)
    }
    expect(said.join('').split('dull answer').length - 1).toBe(120)
  })

  it('accepts pictures and files, from Discord’s own hosts and within bounds', async () => {
    const { here, dm, user, person, bot } = await talk()
    const { discord } = here
    const bytes = Buffer.from('89504e470d0a1a0a', 'hex')
    discord.files.set('/a.png', { type: 'image/png', bytes })
    discord.files.set('/big', { type: 'text/plain', bytes: Buffer.alloc(200_000) })
    const attach = (filename: string, url: string, content_type: string) => ({
      ...{ id: '1', filename, size: 8, url, proxy_url: url, content_type },
    })
    discord.say(dm, {
      author: person,
      content: 'look',
      attachments: [
        attach('a.png', `${discord.url}/a.png`, 'image/png'),
        attach('big', `${discord.url}/big`, 'text/plain'),
        attach('other', 'http://127.0.0.1:9/other', 'text/plain'),
      ],
    })
    await here.untilSaid(dm, user, 1)
    const [session] = await bot.runtime.listSessions({ limit: 1 })
    if (session === undefined) throw new Error('There is no session.')
    const entries = await bot.runtime.session(session.id).transcript({ from: 1, to: 9 })
    const input = entries?.find(({ kind }) => kind === 'input')?.message
    expect(input?.role === 'user' && input.parts.map(({ type }) => type)).toEqual([
      ...['text', 'image', 'text', 'text'],
    ])
    expect(input && textOf(input)).toContain('big was attached and is not here: it is larger than')
    expect(input && textOf(input)).toContain('other was attached and is not here: it is not on a')
  })

  it('offers the commands of every chat, acknowledges at once, and answers the sender', async () => {
    const { here, dm, user, person, say } = await talk()
    await here.until(() => here.discord.commands.has(user.id))
    expect(here.discord.commands.get(user.id)?.map(({ name }) => name)).toEqual([
      ...['stop', 'compact', 'undo', 'new', 'status', 'search', 'pin', 'help'],
    ])
    say('hello')
    await here.untilSaid(dm, user, 1)
    const use = (name: string, options = {}) =>
      here.discord.interact(dm, person, user, { name, options })
    const status = use('status')
    const search = use('search', { words: 'hello' })
    await here.until(() => status.answers.length > 0 && search.answers.length > 0)
    expect([status.deferred, status.answers.length]).toEqual([5, 1])
    expect(status.answers[0]).toContain('of main: ready')
    expect(search.answers[0]).toContain('hello')
    expect(here.said(dm, user)).toHaveLength(1)
  })

  it('loses no message and sends none twice when a connection breaks and is resumed', async () => {
    const { here, dm, user, say } = await talk()
    say('one')
    await here.untilSaid(dm, user, 1)
    here.discord.disconnect(user)
    const two = say('two')
    await here.untilSaid(dm, user, 2)
    here.discord.disconnect(user, 4000)
    say('three')
    here.discord.repeat(two)
    expect(await here.untilSaid(dm, user, 3)).toEqual(['heard: one', 'heard: two', 'heard: three'])
    expect(here.discord.requests.filter((line) => line.includes('gateway'))).toHaveLength(1)
  })

  it.each([
    [4014, 'switch on "Message Content Intent"'],
    [4004, 'refuses the token'],
    [4013, 'closed the connection for good (code 4013)'],
  ])(
    'refused with %i says so and what to do, not that it cannot be reached',
    async (code, told) => {
      const here = await place()
      here.discord.turnAway(code)
      const { runtime } = await here.start(here.addBot('helper'))
      let problems: readonly string[] = []
      await until(async () => {
        ;({ problems } = await runtime.health())
        return problems.length > 0
      })
      expect(problems.join()).toContain(told)
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
      expect((await runtime.health()).problems).toEqual(problems)
    },
  )

  it('closes an open but dead connection, and answers messages sent meanwhile', async () => {
    const { here, user, person, dm } = await talk()
    here.discord.playDead(true)
    here.discord.disconnectAll()
    await here.until(() => here.discord.deadConnections > 0)
    here.discord.playDead(false)
    here.discord.say(dm, { author: person, content: 'anybody there?' })
    expect(await here.untilSaid(dm, user, 1)).toEqual(['heard: anybody there?'])
  })

  it('continues in other channels after removal from one, and stops asking there', async () => {
    const here = await place()
    const [user, person] = [here.addBot('helper'), here.world.addPerson('ada')]
    const [lost, kept] = [here.world.addChannel(), here.world.addChannel()]
    const allow = { chats: [lost.id, kept.id], users: [] }
    const { runtime } = await here.connect(user, { allow, needsMention: false })
    for (const room of [lost, kept]) {
      here.discord.say(room, { author: person, content: 'one' })
      await here.untilSaid(room, user, 1)
    }
    lost.isForbidden = true
    here.discord.say(lost, { author: person, content: 'the last word' })
    here.discord.forgetSessions(user)
    here.discord.disconnectAll()
    await here.until(() => here.discord.connectionsOf(user) > 0)
    here.discord.say(kept, { author: person, content: 'two' })
    await here.untilSaid(kept, user, 2)
    const path = `GET /channels/${lost.id}/messages`
    const asked = () => here.discord.requests.filter((line) => line === path).length
    await here.until(() => asked() > 1)
    const before = asked()
    await new Promise((resolve) => setTimeout(resolve, 3 * QUIET_MS))
    expect(asked()).toBe(before)
    const { problems } = await runtime.health()
    expect(problems.filter((problem) => !problem.includes('could not be sent'))).toEqual([])
  })

  it('answers a command only to the person who sent it, even when the first answer fails', async () => {
    const { here, user, person, room } = await channel()
    here.discord.say(room, { author: person, content: `<@${user.id}> hello` })
    await here.untilSaid(room, user, 1)
    const said = () => here.said(room, user).length
    // The webhook that carries the answer breaks off, once.
    here.discord.fail(2)
    const status = here.discord.interact(room, person, user, { name: 'status' })
    await here.until(() => status.answers.length > 0)
    expect(status.answers[0]).toContain('of main: ready')
    expect(said()).toBe(1)
  })

  it('reads missed messages from the history when a session cannot be resumed', async () => {
    const { here, dm, user, say } = await talk()
    say('one')
    await here.untilSaid(dm, user, 1)
    here.discord.forgetSessions(user)
    say('two')
    say('three')
    here.discord.disconnectAll()
    expect((await here.untilSaid(dm, user, 2)).join()).toContain('two')
    await here.until(() => here.said(dm, user).join().includes('three'))
    say('four')
    await here.until(() => here.said(dm, user).join().includes('four'))
    const all = here.said(dm, user).join()
    expect(['one', 'two', 'three', 'four'].map((word) => all.split(word).length - 1)).toEqual([
      1, 1, 1, 1,
    ])
  })

  it('answers messages sent during a restart, in order', async () => {
    const { here, dm, user, bot, terms, say } = await talk()
    say('one')
    await here.untilSaid(dm, user, 1)
    await bot.close()
    say('two')
    say('three')
    const again = await here.connect(user, { ...terms, store: bot.store })
    await here.until(() => here.said(dm, user).join().includes('three'))
    const [session] = await again.runtime.listSessions({ limit: 5 })
    if (session === undefined) throw new Error('There is no session.')
    const mail = await again.runtime.session(session.id).mailbox({ limit: 10 })
    expect(mail.map(({ text }) => text)).toEqual(['one', 'two', 'three'])
  })

  it('starts nothing once it is closed, even while it still looks up channels', async () => {
    const here = await place()
    const user = here.addBot('helper')
    const people = Array.from({ length: 40 }, (_, index) => here.world.addPerson(`p${index}`).id)
    let marks = 0
    const platform = new DiscordPlatform({
      ...{ token: tokenOf(user.id), apiUrl: here.discord.url, clock: systemClock, logger: SILENT },
      ...{ allow: { chats: [], users: people }, bots: [], answersAll: false, editEveryMs: 2_000 },
      attachments: { hosts: [], bytesMax: 1 },
      ...{ loopRule: null, findAct: async () => null },
      findMark: async () => {
        marks += 1
        return null
      },
    })
    const handlers = {
      setAside: () => {},
      report: () => {},
      receive: async () => 'other',
      moved: async () => {},
    } as const
    platform.start(handlers as unknown as Parameters<typeof platform.start>[0])
    const lookups = () => here.discord.requests.filter((line) => /users\/@me\/channels/.test(line))
    await here.until(() => lookups().length > 0)
    await platform.close()
    expect(lookups().length).toBeLessThan(people.length)
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
    expect(marks).toBe(0)
  })

  it('sends a message once when the response of Discord is lost', async () => {
    const { here, dm, user, say } = await talk()
    say('zero')
    await here.untilSaid(dm, user, 1)
    here.discord.loseAnswers(1)
    say('one')
    await here.until(() => here.discord.repeats === 1)
    expect(here.said(dm, user)).toEqual(['heard: zero', 'heard: one'])
  })
})

describe.concurrent('other bots', () => {
  const thanks: Script = (ask) => {
    const heard = textOf(ask.messages.at(-1) ?? { role: 'user', parts: [] })
    const to = /<@\d+>/.exec(heard)?.[0]
    return to === undefined ? ECHO(ask) : { text: `${to} thanks!` }
  }

  async function two() {
    const here = await place(thanks)
    const room = here.world.addChannel()
    const [one, other] = [here.addBot('one'), here.addBot('other')]
    const allow = { chats: [room.id], users: [] }
    const person = here.world.addPerson('ada')
    const first = await here.connect(one, { allow, bots: [other.id] })
    await here.connect(other, { allow, bots: [one.id] })
    return { here, room, one, other, person, first, terms: { allow } }
  }

  it('are ignored unless they are allowed', async () => {
    const { here, user, person, room } = await channel()
    const stranger = here.addBot('stranger')
    here.discord.say(room, { author: stranger, content: `<@${user.id}> hello` })
    here.discord.say(room, { author: person, content: `<@${user.id}> hi` })
    expect(await here.untilSaid(room, user, 1)).toEqual(['heard: ada: hi'])
  })

  /** What was said in the room, notices apart. */
  const words = (here: DiscordPlace, room: ChannelRow) =>
    here.world.messages(room).filter(({ content }) => !isNotice(content))
  const notices = (here: DiscordPlace, room: ChannelRow) =>
    here.world.messages(room).filter(({ content }) => isNotice(content))

  it('cannot thank each other forever: both are warned once, a restart keeps the count, and held messages come with the next request [fault 40]', async () => {
    const { here, room, one, other, person, first, terms } = await two()
    here.discord.say(room, { author: other, content: `<@${one.id}> thanks!` })
    const count = () => words(here, room).length
    const reached = LOOP_RULE.messagesMax + 1
    await here.until(() => count() === reached && notices(here, room).length === 1)
    const [notice] = notices(here, room)
    expect([notice?.author.id, notice?.content.startsWith(`<@${other.id}>`)]).toEqual([
      one.id,
      true,
    ])
    await first.close()
    const again = await here.connect(one, { ...terms, bots: [other.id], store: first.store })
    // It has read the channel when it has read what was said last there.
    const reads = () => here.discord.requests.filter((line) => line.startsWith('GET /channels'))
    const read = `GET /channels/${room.id}/messages`
    await here.until(() => reads().filter((line) => line === read).length >= 2)
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
    expect([count(), notices(here, room).length]).toEqual([reached, 1])
    here.discord.say(room, { author: person, content: `<@${one.id}> what is new?` })
    await here.until(() => count() > reached + 1)
    const [session] = await again.runtime.listSessions({ limit: 5 })
    if (session === undefined) throw new Error('There is no session.')
    const mail = await again.runtime.session(session.id).mailbox({ limit: 50 })
    const heard = mail.map(({ text }) => text.split(' ').at(-1))
    const asked = mail.findIndex(({ text }) => text.includes('what is new?'))
    expect(heard.slice(0, asked)).toEqual(['thanks!', 'thanks!', 'thanks!'])
    expect(mail[asked]?.text).toMatch(
      /^other .*: thanks!\s+\[This was kept without waking you: .*\]\s+ada: what is new\?$/,
    )
  })

  it('may talk on as long as they work in between', async () => {
    const works: Script = (ask) => {
      const last = ask.messages.at(-1)
      if (last?.role === 'tool') return { text: `<@${other.id}> done, what next?` }
      return last === undefined || ask.model === SUMMARIES
        ? undefined
        : { calls: [{ name: 'look', input: '{}' }] }
    }
    const here = await place(works)
    const room = here.world.addChannel()
    const [one, other] = [here.addBot('one'), here.addBot('other')]
    const look: Tool = {
      ...{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } },
      isRepeatable: true,
      run: async () => ({ outcome: 'ok', output: 'seen' }),
    }
    const allow = { chats: [room.id], users: [] }
    await here.connect(one, { allow, bots: [other.id], as: { tools: [look] } })
    for (let n = 1; n <= LOOP_RULE.messagesMax; n++) {
      here.discord.say(room, { author: other, content: `<@${one.id}> next!` })
      await here.untilSaid(room, one, n)
    }
    expect(notices(here, room)).toEqual([])
  })
})
