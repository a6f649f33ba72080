import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { until } from '../../../../../test/support/until.ts'
import { DiscordPlatform, type DiscordTerms } from './discord.ts'

const TOKEN = `${Buffer.from('700100').toString('base64')}.x.y`
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type Answer = readonly [status: number, body?: object]

/** The platform without its connection, and a server in Discord's place that answers as the table says. */
async function open(
  answers: Readonly<Record<string, readonly Answer[]>> = {},
  terms: Partial<DiscordTerms> = {},
) {
  const calls: (readonly [what: string, body: unknown])[] = []
  const counts = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const what = `${request.method} ${request.url?.replace('/v10', '')}`
    const body = await bodyOf(request)
    calls.push([what, body === '' ? null : JSON.parse(body)])
    const count = counts.get(what) ?? 0
    counts.set(what, count + 1)
    const all = answers[what] ?? []
    const [status, answer = {}] = all[Math.min(count, all.length - 1)] ?? [200]
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(status === 204 ? '' : JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const waits: number[] = []
  const logged: unknown[] = []
  const note = (fields: object, text: string) => void logged.push([fields, text])
  const platform = new DiscordPlatform({
    ...{ token: TOKEN, apiUrl: `http://127.0.0.1:${port}`, allow: { chats: [], users: [] } },
    ...{ bots: [], answersAll: false, attachments: { hosts: [], bytesMax: 0 } },
    ...{ findMark: async () => null, findAct: async () => null, loopRule: null },
    clock: {
      ...systemClock,
      after: (delayMs, callback) => {
        waits.push(delayMs)
        return systemClock.after(0, callback)
      },
    },
    logger: { debug: note, info: note, warn: note, error: note },
    ...{ editEveryMs: 1_200, ...terms },
  })
  const reports: unknown[] = []
  const start = () =>
    platform.start({
      receive: async () => 'other',
      ...{ moved: async () => {}, setAside: () => {} },
      report: (problem) => void reports.push(problem),
    })
  closing.push(async () => {
    await platform.close()
    server.closeAllConnections()
    server.close()
  })
  return { platform, calls, waits, logged, reports, start }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

const OUT = { address: '20', text: '#### Hello', nonce: 'answer-1' }
const SEND = 'POST /channels/20/messages'
const EDIT = 'PATCH /channels/20/messages/88'
const REMOVE = 'DELETE /channels/20/messages/88'
const plain = { allowed_mentions: { parse: [] }, flags: 4 }
const sent = (content: string): Answer => [200, { id: '88', content }]
const refused = (status: number, code: number): Answer => [status, { code, message: 'no' }]

it('is named by its token, and shows half an answer only where no other bot reads', async () => {
  const { platform } = await open()
  expect([platform.name, platform.account]).toEqual(['discord', '700100'])
  const capabilities = {
    ...{ edits: true, threads: true, images: true, nonce: true },
    ...{ lengthMax: 1_900, editEveryMs: 1_200, typingMs: 9_000 },
  }
  expect(platform.capabilities).toEqual(capabilities)
  const other = await open({}, { bots: ['5'] })
  expect(other.platform.capabilities).toEqual({ ...capabilities, edits: false })
})

describe('a message of ours', () => {
  it('is sent once under its nonce, notifies nobody and shows no preview', async () => {
    const { platform, calls, waits } = await open({ [SEND]: [sent('**Hello** ')] })
    const nonce = 'answer-1-of-a-long-session'
    expect(await platform.send(OUT)).toEqual({ kind: 'sent', id: '88' })
    expect(await platform.send({ ...OUT, nonce: nonce.slice(0, 25) })).toMatchObject({ id: '88' })
    expect(await platform.send({ ...OUT, nonce })).toEqual({ kind: 'sent', id: '88' })
    expect(await platform.edit({ ...OUT, id: '88' })).toEqual({ kind: 'sent', id: '88' })
    expect(await platform.remove({ address: '20', id: '88' })).toEqual({ kind: 'sent', id: '88' })
    await platform.showTyping('20')
    const body = { content: '**Hello**', enforce_nonce: true, ...plain }
    expect(calls).toEqual([
      [SEND, { ...body, nonce: 'answer-1' }],
      [SEND, { ...body, nonce: 'answer-1-of-a-long-sessio' }],
      [SEND, { ...body, nonce: expect.stringMatching(/^[\w-]{25}$/) }],
      [EDIT, { content: '**Hello**', ...plain }],
      [REMOVE, null],
      ['POST /channels/20/typing', null],
    ])
    expect(calls[2]).not.toEqual(calls[1])
    expect(waits).toEqual([])
  })

  it('is completed if an earlier attempt sent less of it', async () => {
    const { platform, calls } = await open({ [SEND]: [sent('**Hel')] })
    expect(await platform.send(OUT)).toEqual({ kind: 'sent', id: '88' })
    expect(calls.map(([what]) => what)).toEqual([SEND, EDIT])
  })

  it('is sent again at once after an outage, and then only after ten times the usual wait', async () => {
    const twice = await open({ [SEND]: [refused(401, 0), sent('**Hello**')] })
    expect(await twice.platform.send(OUT)).toEqual({ kind: 'sent', id: '88' })
    expect(twice.waits).toEqual([250])
    const text = 'Discord answered 401 (code 0)'
    const failed = { kind: 'failed', why: 'outage', text }
    const away = await open({ [SEND]: [refused(401, 0)] }, { retryMs: 7 })
    expect(await away.platform.send(OUT)).toEqual({ ...failed, retryAfterMs: 70 })
    expect(away.calls).toHaveLength(2)
    const slow = await open({ [SEND]: [refused(401, 0)] })
    expect(await slow.platform.send(OUT)).toEqual({ ...failed, retryAfterMs: 10_000 })
    const final = await open({ [SEND]: [refused(401, 0), refused(403, 50_013)] })
    expect(await final.platform.send(OUT)).toEqual({
      ...{ kind: 'failed', why: 'final', text: 'Discord answered 403 (code 50013)' },
    })
  })

  it.each([
    [EDIT, 404, 10_008, 'gone'],
    [EDIT, 403, 50_013, 'final'],
    [REMOVE, 404, 10_008, 'sent'],
    [REMOVE, 403, 50_013, 'final'],
    [SEND, 403, 50_013, 'final'],
  ])('%s answered by %i (%i) is %s', async (what, status, code, end) => {
    const { platform, calls } = await open({ [what]: [refused(status, code)] })
    const done =
      what === SEND
        ? await platform.send(OUT)
        : what === EDIT
          ? await platform.edit({ ...OUT, id: '88' })
          : await platform.remove({ address: '20', id: '88' })
    const text = `Discord answered ${status} (code ${code})`
    expect(done).toEqual(
      end === 'sent' ? { kind: 'sent', id: '88' } : { kind: 'failed', why: end, text },
    )
    expect(calls).toHaveLength(1)
  })

  it('for a command that has its answer goes to no channel', async () => {
    const { platform, calls } = await open()
    expect(await platform.send({ ...OUT, nonce: 'answer-interaction-77' })).toEqual({
      ...{ kind: 'failed', why: 'final', text: 'the command was answered' },
    })
    expect(calls).toEqual([])
  })

  it('needs no typing indicator', async () => {
    const { platform } = await open({ 'POST /channels/20/typing': [refused(403, 1)] })
    await expect(platform.showTyping('20')).resolves.toBeUndefined()
  })
})

describe('when it connects', () => {
  const GATEWAY = 'GET /gateway/bot'

  it('reports an outage and waits twice as long each time, a minute at most', async () => {
    const { waits, reports, logged, start } = await open({ [GATEWAY]: [refused(400, 0)] })
    start()
    await until(() => waits.length >= 9)
    expect(waits.slice(0, 9)).toEqual([
      ...[1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000],
    ])
    expect(new Set(reports)).toEqual(new Set(['Discord cannot be reached; trying again.']))
    expect(logged[0]).toEqual([{ reason: 'DiscordAPIError[0] 0 400' }, 'discord login failed'])
  })

  it('asks once with a token that Discord refuses', async () => {
    const { platform, calls, waits, reports, logged, start } = await open({
      [GATEWAY]: [refused(401, 0)],
    })
    start()
    await until(() => logged.length > 0)
    await platform.close()
    expect(reports).toEqual([
      'Discord refuses the token of the bot: put a new one where the configuration says.',
    ])
    expect([calls.map(([what]) => what), waits]).toEqual([[GATEWAY], []])
  })
})
