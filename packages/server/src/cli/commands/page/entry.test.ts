import { expect, it, onTestFinished } from 'vitest'
import { openEntry, type PageEntry } from './entry.ts'

async function open(url = 'http://127.0.0.1:7420', clearing = '/c</script>'): Promise<PageEntry> {
  const entry = await openEntry({ url, clearing })
  onTestFinished(() => entry.close())
  return entry
}

/** An answer with every header of ours. */
async function ask(url: string, method = 'GET') {
  const answer = await fetch(url, { method })
  const headers = Object.fromEntries(
    ['cache-control', 'referrer-policy', 'content-type'].map((name) => [
      name,
      answer.headers.get(name),
    ]),
  )
  return { status: answer.status, headers, text: await answer.text() }
}

const headers = {
  ...{ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'content-type': null },
}

it('leads a browser to the page by way of the address that clears what is kept for it', async () => {
  const { url, used } = await open()
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}$/)
  expect(await ask(url)).toEqual({
    status: 200,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
    text: `<!doctype html><html lang="en"><title>Throughline</title><body><script>
const address = "http://127.0.0.1:7420/c\\u003c/script>"
fetch(address, { mode: 'no-cors', credentials: 'include', cache: 'no-store' })
  .then(() => fetch('', { method: 'POST' }))
  .then(() => location.replace(address), () => document.body.append('The server does not answer.'))
</script>`,
  })
  expect(await ask(url, 'POST')).toEqual({ status: 204, headers, text: '' })
  await used
})

it('answers at no other path, and is used by a visit of its own alone', async () => {
  const { url, used } = await open()
  let isUsed = false
  void used.then(() => {
    isUsed = true
  })
  const none = { status: 404, headers, text: '' }
  expect(await ask(new URL('/', url).href)).toEqual(none)
  expect(await ask(`${url}x`, 'POST')).toEqual(none)
  await ask(url)
  expect(isUsed).toBe(false)
})

it('listens where the page does, at a port and a path of its own', async () => {
  const [one, other] = [await open('http://localhost:7420'), await open('http://localhost:7420')]
  expect([new URL(one.url).hostname, new URL(other.url).hostname]).toEqual([
    'localhost',
    'localhost',
  ])
  expect(new URL(one.url).pathname).not.toBe(new URL(other.url).pathname)
  expect((await ask(one.url)).status).toBe(200)
})
