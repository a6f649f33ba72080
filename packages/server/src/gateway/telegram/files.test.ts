import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Api, GrammyError } from 'grammy'
import { expect, it } from 'vitest'
import { TelegramFiles } from './files.ts'
import type { RemoteFile } from './updates.ts'

const LIMIT = 20 * 1024 * 1024
const FILE: RemoteFile = { id: 'f', name: 'a.pdf', mediaType: 'application/pdf', bytes: LIMIT }

/** What becomes of a file that Telegram calls so, and what was asked for it. */
async function fetchFile(
  file: RemoteFile,
  path: string | undefined,
  {
    answers = [[200, 'abc']] as readonly (readonly [number, string])[],
    error = null as Error | null,
    isClosing = false,
  } = {},
) {
  const asked: unknown[] = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    const [status, body] = answers[Math.min(asked.length, answers.length * 2) / 2 - 1] ?? [500, '']
    response.writeHead(status, { location: '/other' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const closing = new AbortController()
  if (isClosing) closing.abort()
  const api = {
    getFile: async (id: string) => {
      asked.push(id)
      if (error !== null) throw error
      return { file_path: path }
    },
  } as unknown as Api
  const { port } = server.address() as AddressInfo
  const files = new TelegramFiles(api, `http://127.0.0.1:${port}/file/bot1:x`, closing.signal)
  try {
    const parts = await files.fetchAll([file])
    return { parts, asked }
  } finally {
    server.close()
  }
}

const missing = (why: string, what = 'a.pdf') => [
  { type: 'text', text: `[A file came with this (${what}); ${why}.]` },
]

it('takes a file of the configured server, under its name and type', async () => {
  expect(await fetchFile(FILE, 'docs/a b.pdf')).toEqual({
    parts: [
      {
        ...{ type: 'file', name: 'a.pdf' },
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'YWJj' },
      },
    ],
    asked: ['f', '/file/bot1:x/docs/a%20b.pdf'],
  })
})

it.each([
  '..',
  'docs/../a',
  './a',
  'docs/..',
  '/a',
  '',
  'a?b',
  'https://evil.example/a',
  `a${'b'.repeat(301)}`,
  undefined,
])('asks no server for the path %s', async (path) => {
  expect(await fetchFile(FILE, path)).toEqual({
    ...{ parts: missing('it could not be fetched'), asked: ['f'] },
  })
})

it('takes paths with dots in their names, up to their limit', async () => {
  for (const path of ['docs/a..b', `a${'b'.repeat(300)}`]) {
    expect((await fetchFile(FILE, path)).asked).toEqual(['f', `/file/bot1:x/${path}`])
  }
})

it('fetches no file that is too large, whatever its size was said to be', async () => {
  const tooLarge = missing('it is larger than 20 MB')
  expect(await fetchFile({ ...FILE, bytes: LIMIT + 1 }, 'a')).toEqual({
    ...{ parts: tooLarge, asked: [] },
  })
  const answers = [[200, 'x'.repeat(LIMIT + 1)]] as const
  const nameless = { id: 'f', mediaType: 'image/jpeg', bytes: undefined }
  expect((await fetchFile(nameless, 'a', { answers })).parts).toEqual(
    missing('it is larger than 20 MB', 'image/jpeg'),
  )
  const whole = await fetchFile(FILE, 'a', { answers: [[200, 'x'.repeat(LIMIT)]] })
  expect(whole.parts).toMatchObject([{ type: 'file' }])
})

it('tries three times, follows no redirect, and leaves a note', async () => {
  const path = '/file/bot1:x/a'
  expect(await fetchFile(FILE, 'a', { answers: [[302, '']] })).toEqual({
    parts: missing('it could not be fetched'),
    asked: ['f', path, 'f', path, 'f', path],
  })
  const again = await fetchFile(FILE, 'a', {
    answers: [
      [500, ''],
      [200, 'abc'],
    ],
  })
  expect(again.asked).toEqual(['f', path, 'f', path])
  expect(again.parts).toMatchObject([{ type: 'file' }])
})

it('asks once for what Telegram refuses, and lets go when it closes', async () => {
  const refused = { ok: false, error_code: 400, description: 'no', parameters: {} } as const
  const error = new GrammyError('no', refused, 'getFile', {})
  expect(await fetchFile(FILE, 'a', { error })).toEqual({
    ...{ parts: missing('it could not be fetched'), asked: ['f'] },
  })
  await expect(fetchFile(FILE, 'a', { error, isClosing: true })).rejects.toBe(error)
})
