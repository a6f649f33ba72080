import { once } from 'node:events'
import { connect } from 'node:net'
import type { Update } from 'grammy/types'
import { afterEach, expect, it } from 'vitest'
import { Webhook } from './webhook.ts'

const SECRET = 'x-telegram-bot-api-secret-token'
const open: Webhook[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function listen(fates: readonly (Error | Promise<void>)[] = [], secret = 'hush') {
  const log: unknown[] = []
  let taken = 0
  const webhook = new Webhook(
    { host: '127.0.0.1', port: 0, path: '/hook', secret },
    {
      take: async ({ update_id: id }: Update) => {
        log.push(id)
        const fate = fates[taken++]
        if (fate instanceof Error) throw fate
        await fate
      },
      setAside: () => void log.push('set aside'),
    },
  )
  open.push(webhook)
  const port = await webhook.listen()
  const post = async (body: string, { path = '/hook', method = 'POST', given = secret } = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...{ method, headers: { [SECRET]: given } },
      ...(method === 'POST' && { body }),
    })
    return `${answer.status} ${answer.headers.get('connection')} ${await answer.text()}`
  }
  return { webhook, log, post, port }
}

it('accepts an update with the secret at its path only', async () => {
  const { log, post } = await listen()
  const update = '{"update_id":4}'
  expect([
    await post(update),
    await post(update, { path: '/hook/' }),
    await post(update, { method: 'GET' }),
    await post(update, { given: 'hus' }),
    await post(update, { given: '' }),
  ]).toEqual(['200 keep-alive ', '404 close ', '405 close ', '401 close ', '401 close '])
  expect(log).toEqual([4])
})

it('accepts nothing without a secret of its own', async () => {
  const { log, post } = await listen([], '')
  expect([await post('{"update_id":4}'), log]).toEqual(['401 close ', []])
})

it('has Telegram repeat an update that was not taken', async () => {
  const { log, post } = await listen([new Error('x')])
  expect(await post('{"update_id":4}')).toBe('500 close ')
  expect(await post('{"update_id":4}')).toBe('200 keep-alive ')
  expect(log).toEqual([4, 4])
})

it('takes updates one after another, and waits for the last one when it closes', async () => {
  const first = Promise.withResolvers<void>()
  const { webhook, log, post } = await listen([first.promise])
  const answers = [post('{"update_id":4}'), post('{"update_id":5}')]
  await expect.poll(() => log.length).toBe(1)
  first.resolve()
  expect(await Promise.all(answers)).toEqual(['200 keep-alive ', '200 keep-alive '])
  expect(log.toSorted()).toEqual([4, 5])
  await webhook.close()
  await expect(post('{"update_id":6}')).rejects.toThrow()
})

it.each([
  ['no JSON', '{'],
  ['no object', '[]'],
  ['no update', '{"update_id":"4"}'],
  ['more than a mebibyte', JSON.stringify({ update_id: 4, x: 'x'.repeat(1024 * 1024 - 20) })],
])('sets aside a body that is %s', async (_what, body) => {
  const { log, post } = await listen()
  expect([await post(body), log]).toEqual(['200 keep-alive ', ['set aside']])
})

it('takes a mebibyte', async () => {
  const { log, post } = await listen()
  const body = JSON.stringify({ update_id: 4, x: '' }).length
  const whole = JSON.stringify({ update_id: 4, x: 'x'.repeat(1024 * 1024 - body) })
  expect([whole.length, await post(whole), log]).toEqual([1024 * 1024, '200 keep-alive ', [4]])
})

it.each([
  ['nothing', ''],
  ['the beginning of a request', 'POST /hook HTTP/1.1\r\nhost: x\r\n'],
  [
    'the beginning of a body',
    `POST /hook HTTP/1.1\r\nhost: x\r\n${SECRET}: hush\r\ncontent-length: 99\r\n\r\n{`,
  ],
])('is reached while another program holds 150 connections open and sends %s', async (_, sent) => {
  const { log, port, post } = await listen()
  const held = Array.from({ length: 150 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  await Promise.all(held.map((socket) => once(socket, 'connect')))
  for (const socket of held) if (!socket.destroyed) socket.write(sent)
  expect(await post('{"update_id":4}')).toBe('200 keep-alive ')
  expect(log).toEqual([4])
  for (const socket of held) socket.destroy()
})

it('takes nothing that is cut off', async () => {
  const { log, port, post } = await listen()
  const socket = connect(port, '127.0.0.1')
  const head = `POST /hook HTTP/1.1\r\nhost: x\r\n${SECRET}: hush\r\ncontent-length: 99\r\n\r\n`
  await new Promise<void>((resolve) => socket.write(`${head}{"update_id":4}`, () => resolve()))
  socket.destroy()
  await post('{"update_id":5}')
  expect(log).toEqual([5])
})
