import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from './contract.ts'
import { ADA, openTelegramPlace, type TelegramPlace } from './telegram-place.ts'

const GROUP = -1001
const group = { id: GROUP, type: 'supergroup', title: 'Harbour' }

describe('Telegram', () => {
  let place: TelegramPlace
  afterEach(async () => await place.close())

  it('in a group takes what names it, answers it or is a command, and says who spoke', async () => {
    place = await openTelegramPlace({ chats: [String(GROUP)] })
    const { api, runtime } = place
    const mention = [{ type: 'mention', offset: 0, length: 11 }]
    api.say({ chat: group, text: 'nobody is asked' })
    api.say({ chat: group, text: '/help@other_bot' })
    api.say({ chat: group, text: '@thread_bot say hello', entities: mention })
    await until(() => api.chat(GROUP).length === 1)
    const first = api.messages[0]
    const answered = { message_id: first?.id, from: { id: 7001, is_bot: true }, text: 'x' }
    api.say({ chat: group, text: 'and say more', reply_to_message: answered })
    api.say({ chat: group, text: '/status@thread_bot' })
    await until(() => api.chat(GROUP).length === 3)
    const id = await runtime.findRoute({
      ...{ agent: 'main', channel: place.channel, address: String(GROUP) },
    })
    const mail = id === undefined ? [] : await runtime.session(id).mailbox({ limit: 10 })
    expect(mail.map(({ text }) => text)).toEqual(['Ada: say hello', '> x\n\nAda: and say more'])
  })

  it('a topic is a place of its own, and its answers stay there', async () => {
    place = await openTelegramPlace({ chats: [String(GROUP)] })
    const { api, runtime, channel } = place
    const opened = { message_id: 5, forum_topic_created: { name: 'Boats' } }
    const topic = { chat: group, is_topic_message: true, message_thread_id: 5 }
    api.say({ ...topic, text: '/new', reply_to_message: opened })
    await until(() => api.chat(GROUP).length === 1)
    expect(api.messages[0]?.thread).toBe(5)
    const route = { agent: 'main', channel }
    expect(await runtime.findRoute({ ...route, address: `${GROUP}/5` })).toBeDefined()
    expect(await runtime.findRoute({ ...route, address: String(GROUP) })).toBeUndefined()
  })

  it('a group that becomes a supergroup keeps its session, its list and what waits for it', async () => {
    const [old, grown] = [-5, -1005]
    place = await openTelegramPlace({ chats: [String(old)] })
    const { api, runtime, channel } = place
    const sessionAt = (address: number) =>
      runtime.findRoute({ agent: 'main', channel, address: String(address) })
    const ask = async (chat: number, text: string) => {
      const before = api.chat(grown).length + api.chat(old).length
      api.say({ chat: { id: chat, type: 'supergroup' }, text: `@thread_bot ${text}`, entities })
      await until(() => api.chat(grown).length + api.chat(old).length > before)
    }
    const entities = [{ type: 'mention', offset: 0, length: 11 }]
    await ask(old, 'please\nsay before')
    const id = await sessionAt(old)
    if (id === undefined) throw new Error('No session.')
    api.upgrade(old, grown)
    await ask(grown, 'please\nsay behind')
    expect(api.chat(grown).at(-1)?.text).toBe('behind')
    expect(await sessionAt(grown)).toBe(id)
    // What was asked for under the old id is answered under the new one.
    const replyTo = { edge: channel, address: String(old) }
    const parts = [{ type: 'text', text: 'say late' }] as const
    await runtime.session(id).admit({ source: 'other', key: 'k', parts, replyTo })
    await until(() => api.chat(grown).at(-1)?.text === 'late')
    // Begun anew it is still the chat that is allowed.
    await ask(grown, '/new')
    await ask(grown, 'please\nsay afresh')
    expect(api.chat(grown).at(-1)?.text).toBe('afresh')
    expect(await sessionAt(grown)).not.toBe(id)
    expect(await sessionAt(old)).toBe(await sessionAt(grown))
  })

  it('takes pictures and files in, and says what it cannot read', async () => {
    place = await openTelegramPlace({ runs: false })
    const { api, runtime, channel, address, store } = place
    const picture = Buffer.alloc(5_000, 7)
    api.files.set('pic', picture)
    const photo = [
      { file_id: 'small', width: 1, height: 1 },
      { file_id: 'pic', width: 9, height: 9 },
    ]
    const document = { file_id: '../secret', file_name: 'notes.txt', mime_type: 'text/plain' }
    api.say({ photo, caption: 'what is this' })
    api.say({ document })
    api.say({ document: { ...document, file_id: 'huge', file_size: 30_000_000 } })
    api.say({ voice: { file_id: 'v', duration: 1 } })
    await until(() => place.shown().length === 1)
    expect(place.shown()[0]).toContain('Voice messages cannot be read')
    const id = await runtime.findRoute({ agent: 'main', channel, address })
    if (id === undefined) throw new Error('No session.')
    const mail = await store.listMail({ sessionId: id, limit: 10 })
    const parts = mail.map(({ body }) => JSON.parse(body ?? '').message.parts)
    expect(parts[0].map((part: { type: string }) => part.type)).toEqual(['text', 'image'])
    const [hash = ''] = mail[0]?.blobs ?? []
    const blob = await store.findBlob({ sessionId: id, hash })
    expect(Buffer.from(blob?.bytes ?? []).equals(picture)).toBe(true)
    expect(parts[1][0].text).toContain('could not be fetched')
    expect(parts[2][0].text).toContain('larger than 20 MB')
    expect(parts).toHaveLength(3)
    expect(api.calls.filter(({ method }) => method === 'getFile')).toHaveLength(2)
  })

  it('a webhook listens to who knows the secret, and answers once the update is durable', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/hook`
    place = await openTelegramPlace({ webhook: { url, port, secret: 'open-sesame' } })
    const { api } = place
    await until(() => api.webhook !== null)
    expect(api.webhook).toEqual({ url, secret: 'open-sesame' })
    const update = { update_id: 1, message: api.messageOf({ text: 'say by hand' }) }
    const bring = async (secret: string, body: string) => {
      const headers = { 'x-telegram-bot-api-secret-token': secret }
      return (await fetch(url, { method: 'POST', headers, body })).status
    }
    expect(await bring('wrong', JSON.stringify(update))).toBe(401)
    expect(await bring('', JSON.stringify(update))).toBe(401)
    expect(await bring('open-sesame', 'no json')).toBe(400)
    expect(await bring('open-sesame', ' '.repeat(2_000_000))).toBe(413)
    expect(await place.runtime.listSessions({ limit: 1 })).toEqual([])
    expect(await bring('open-sesame', JSON.stringify(update))).toBe(200)
    expect(await bring('open-sesame', JSON.stringify(update))).toBe(200)
    await until(() => api.chat(ADA).length === 1)
    expect(api.chat(ADA)[0]?.text).toBe('by hand')
  })

  it('a chat that blocks the bot ends in a dead reply, not in a reply tried for ever', async () => {
    place = await openTelegramPlace()
    const { api, store, runtime } = place
    const description = 'Forbidden: bot was blocked by the user'
    api.refuseNext(/^sendMessage$/, { code: 403, description })
    api.say({ text: 'say hello' })
    await until(async () => (await store.listReplies({ state: 'dead', limit: 9 })).length === 1)
    expect((await runtime.health()).problems).toEqual(['1 replies could not be sent'])
    expect(api.count('sendMessage')).toBe(1)
  })

  it('a message that somebody removed while it grew is said again', async () => {
    place = await openTelegramPlace({ model: { speed: { outputTokensPerSecond: 60 } } })
    const { api } = place
    const words = Array.from({ length: 40 }, (_, at) => `word${at}`).join(' ')
    api.say({ text: `say ${words}` })
    await until(() => place.shown().length === 1)
    api.messages.splice(0, 1)
    await until(() => place.shown().at(-1) === words)
    expect(place.shown()).toHaveLength(1)
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
