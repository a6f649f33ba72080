import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { isObject, type JsonValue } from '#core/base/json'
import type { Incoming } from '../chat/platform.ts'
import { Telegram, type TelegramOptions, TelegramTokenError } from './telegram.ts'

const TOKEN = '7001:local-test_x'
const ME = { id: 7001, is_bot: true, first_name: 'Bot', username: 'our_bot' }
const UPDATES = ['message', 'edited_message']

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Refusal {
  readonly code: number
  readonly description?: string
  readonly parameters?: object
}

/** A bot, and a Bot API server that notes each call and refuses some, in turn by method. */
async function open(
  refusals: Readonly<Record<string, readonly (Refusal | null)[]>> = {},
  { updates = [] as readonly object[], options = {} as Partial<TelegramOptions> } = {},
) {
  const calls: (readonly [method: string, payload: unknown])[] = []
  const counts = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const method = request.url?.split('/').at(-1) ?? ''
    const payload = JSON.parse((await bodyOf(request)) || '{}') as JsonValue
    if (method !== 'getUpdates') calls.push([method, payload])
    const count = counts.get(method) ?? 0
    counts.set(method, count + 1)
    const refusal = refusals[method]?.[count]
    const { code = 0, description = 'no', parameters } = refusal ?? {}
    // The first has them all, and the last, at the end, does not wait.
    const isBye = isObject(payload) && payload['timeout'] === 0
    if (method === 'getUpdates' && count > 0 && !isBye) return
    const result = { getMe: ME, sendMessage: { message_id: 50 + count }, getUpdates: updates }
    const body = refusal
      ? { ok: false, error_code: code, description, parameters }
      : { ok: true, result: result[method as keyof typeof result] ?? true }
    response.writeHead(refusal ? code : 200).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const waits: number[] = []
  const clock = {
    ...systemClock,
    after: (delayMs: number, callback: () => void) => {
      waits.push(delayMs)
      return systemClock.after(0, callback)
    },
  }
  const apiRoot = `http://127.0.0.1:${port}/`
  const telegram = new Telegram({ token: TOKEN, apiRoot, clock, ...options })
  const log: unknown[] = []
  const received: Incoming[] = []
  const start = () =>
    telegram.start({
      receive: async (incoming) => {
        received.push(incoming)
        return 'admitted'
      },
      moved: async (chat) => void log.push(['moved', chat]),
      setAside: (update) => void log.push(['set aside', update]),
      report: (problem) => void log.push(problem),
    })
  closing.push(async () => {
    await telegram.close()
    server.closeAllConnections()
    server.close()
  })
  return { telegram, calls, waits, log, received, start }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

const OUT = { address: '-100/12', text: '**Hello**', nonce: 'n' }
const markup = { link_preview_options: { is_disabled: true }, parse_mode: 'HTML' }
const refuse = (code: number, description: string, parameters = {}): Refusal => ({
  ...{ code, description, parameters },
})

it('is named by the number in its token, and refuses what is none', () => {
  const at = (token: string) => new Telegram({ token, apiRoot: 'http://127.0.0.1:1' })
  const { name, account, capabilities } = at(TOKEN)
  expect([name, account]).toEqual(['telegram', '7001'])
  expect(capabilities).toEqual({
    ...{ edits: true, threads: true, images: true, nonce: false },
    ...{ lengthMax: 4_096, editEveryMs: 3_000, typingMs: 4_500 },
  })
  for (const token of ['', 'x:y', '7001', '7001:', `${'7'.repeat(21)}:x`, '7:a b', ' 7:a']) {
    expect(() => at(token)).toThrow(TelegramTokenError)
  }
  expect(new TelegramTokenError()).toMatchObject({
    ...{ code: 'telegram-token', retryable: false, name: 'TelegramTokenError' },
    message:
      'A Telegram token is a number, a colon and letters, as @BotFather gives it; found something else.',
  })
})

describe('a message of ours', () => {
  it('goes to its chat and topic as HTML, without a preview', async () => {
    const { telegram, calls } = await open()
    expect(await telegram.send(OUT)).toEqual({ kind: 'sent', id: '50' })
    expect(await telegram.send({ ...OUT, address: '5' })).toEqual({ kind: 'sent', id: '51' })
    expect(await telegram.edit({ ...OUT, id: '50' })).toEqual({ kind: 'sent', id: '50' })
    expect(await telegram.remove({ address: '-100/12', id: '50' })).toEqual({
      ...{ kind: 'sent', id: '50' },
    })
    await telegram.showTyping('-100/12')
    await telegram.showTyping('5')
    const text = '<b>Hello</b>'
    expect(calls).toEqual([
      ['sendMessage', { chat_id: -100, message_thread_id: 12, text, ...markup }],
      ['sendMessage', { chat_id: 5, text, ...markup }],
      ['editMessageText', { chat_id: -100, message_id: 50, text, ...markup }],
      ['deleteMessage', { chat_id: -100, message_id: 50 }],
      ['sendChatAction', { chat_id: -100, action: 'typing', message_thread_id: 12 }],
      ['sendChatAction', { chat_id: 5, action: 'typing' }],
    ])
  })

  it('goes as it is if Telegram refuses the markup', async () => {
    const refusal = refuse(400, "can't parse entities")
    const { telegram, calls } = await open({ sendMessage: [refusal] })
    expect(await telegram.send({ ...OUT, address: '5' })).toEqual({ kind: 'sent', id: '51' })
    expect(calls[1]).toEqual([
      'sendMessage',
      { chat_id: 5, text: '**Hello**', link_preview_options: { is_disabled: true } },
    ])
    const twice = await open({ sendMessage: [refusal, refusal] })
    expect(await twice.telegram.send(OUT)).toMatchObject({ kind: 'failed', why: 'final' })
  })

  it('follows a group that has another id, from then on', async () => {
    const refusal = refuse(400, 'upgraded to a supergroup', { migrate_to_chat_id: -1005 })
    const { telegram, calls, log, start } = await open({ sendMessage: [refusal] })
    start()
    await expect.poll(() => calls.map(([method]) => method)).toContain('deleteWebhook')
    expect(await telegram.send({ ...OUT, address: '-5' })).toEqual({ kind: 'sent', id: '51' })
    await telegram.edit({ ...OUT, address: '-5', id: '9' })
    const chats = calls.flatMap(([, payload]) => (payload as { chat_id?: number }).chat_id ?? [])
    expect(chats).toEqual([-5, -1005, -1005])
    expect(log).toContainEqual(['moved', { from: '-5', to: '-1005' }])
  })

  it.each([
    ['an unchanged text', 'editMessageText', refuse(400, 'message is not modified'), 'sent'],
    [
      'a message to edit that is gone',
      'editMessageText',
      refuse(400, 'message to edit not found'),
      'gone',
    ],
    [
      'a message to remove that is gone',
      'deleteMessage',
      refuse(400, 'message to delete not found'),
      'sent',
    ],
    ['a message that cannot be removed', 'deleteMessage', refuse(400, 'not yours'), 'final'],
  ])('%s', async (_what, method, refusal, end) => {
    const { telegram } = await open({ [method]: [refusal] })
    const done =
      method === 'deleteMessage'
        ? await telegram.remove({ address: '5', id: '9' })
        : await telegram.edit({ ...OUT, id: '9' })
    const text = `Telegram refused with 400: ${refusal.description}`
    expect(done).toEqual(
      end === 'sent' ? { kind: 'sent', id: '9' } : { kind: 'failed', why: end, text },
    )
  })

  it('waits out an outage ten times as long as receiving does', async () => {
    const text = 'Telegram refused with 500: no'
    const failed = { kind: 'failed', why: 'outage', text }
    const { telegram } = await open({ sendMessage: [{ code: 500 }] })
    expect(await telegram.send(OUT)).toEqual({ ...failed, retryAfterMs: 10_000 })
    const quick = await open({ sendMessage: [{ code: 500 }] }, { options: { retryMs: 7 } })
    expect(await quick.telegram.send(OUT)).toEqual({ ...failed, retryAfterMs: 70 })
    const unchanged = await open({ sendMessage: [refuse(400, 'message is not modified')] })
    expect(await unchanged.telegram.send(OUT)).toMatchObject({ why: 'final' })
    const unseen = await open({ sendChatAction: [{ code: 500 }] })
    await expect(unseen.telegram.showTyping('5')).resolves.toBeUndefined()
  })
})

describe('when it starts', () => {
  it('ends an old webhook and passes messages on, and sets aside what it cannot read', async () => {
    const person = { id: 5, is_bot: false, first_name: 'Ann' }
    const group = { id: -100, type: 'supergroup', title: 'Team' }
    const said = (message: object) => ({
      message_id: 3,
      date: 1,
      from: person,
      chat: group,
      ...message,
    })
    const album = { media_group_id: 'a', photo: [{ file_id: 'f' }] }
    const caption_entities = [{ type: 'mention', offset: 0, length: 8 }]
    const updates = [
      { update_id: 1, message: said({ text: '/status' }) },
      { update_id: 2, message: said({ text: 7 }) },
      { update_id: 3, message: said({ migrate_to_chat_id: -1005 }) },
      { update_id: 4, message: said({ ...album, media_group_id: 'b' }) },
      { update_id: 5, message: said({ ...album, caption: '@our_bot look', caption_entities }) },
      { update_id: 6, message: said(album) },
      { update_id: 7, message: said({ text: 'Hi.' }) },
      { update_id: 8, edited_message: said({ text: 'Hi!', edit_date: 9 }) },
    ]
    const { calls, log, received, start } = await open({}, { updates })
    start()
    await expect.poll(() => received.length).toBe(6)
    expect(calls).toEqual([
      ['getMe', {}],
      ['deleteWebhook', {}],
    ])
    expect(received.map(({ text, edit, chat }) => [text, edit, chat.isAddressed])).toEqual([
      ['/status', undefined, true],
      ['', undefined, false],
      ['look', undefined, true],
      ['', undefined, true],
      ['Hi.', undefined, false],
      ['Hi!', '90000000008', false],
    ])
    expect(log.slice(0, 2)).toEqual([
      ['set aside', { id: '2', reason: 'UnreadableUpdateError' }],
      ['moved', { from: '-100', to: '-1005' }],
    ])
  })

  it('reports a wrong token at once, and an outage that lasts', async () => {
    const refused = 'Telegram does not know this token. Ask @BotFather for the current one.'
    const away = 'Telegram cannot be reached; trying again.'
    const failures = [401, 500, 500, 500, 500].map((code) => ({ code }))
    const { calls, log, waits, start } = await open({
      getMe: failures.slice(0, 1),
      deleteWebhook: failures.slice(1),
    })
    start()
    await expect.poll(() => calls.length).toBe(7)
    await expect.poll(() => waits.length).toBe(5)
    expect(log.slice(0, 2)).toEqual([refused, away])
    expect(waits).toEqual([1_000, 1_000, 2_000, 4_000, 8_000])
  })

  it('asks Telegram for a webhook, one update at a time, and listens there', async () => {
    const webhook = { host: '127.0.0.1', port: 0, secret: 'hush', url: 'https://bot.example/hook' }
    const { calls, log, start } = await open({}, { options: { webhook } })
    start()
    await expect.poll(() => log).toEqual([null])
    const asked = { url: webhook.url, secret_token: 'hush', max_connections: 1 }
    expect(calls).toEqual([
      ['getMe', {}],
      ['setWebhook', { ...asked, allowed_updates: UPDATES }],
    ])
  })

  it('reports a webhook that cannot listen', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    closing.push(async () => void taken.close())
    const { port } = taken.address() as AddressInfo
    const webhook = { host: '127.0.0.1', port, secret: 'hush', url: 'https://bot.example/hook' }
    const { calls, log, start } = await open({}, { options: { webhook } })
    start()
    await expect.poll(() => log.length).toBe(1)
    expect(log[0]).toMatch(/^Telegram's webhook: .*gateways\.telegram\.webhook/s)
    expect(calls).toEqual([['getMe', {}]])
  })
})
