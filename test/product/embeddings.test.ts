import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Running, standIn } from '../../packages/server/src/stand-in/server.ts'
import { type CliPlace, cliPlace, type Served } from './cli-place.ts'

/** Search by meaning, from the configuration to the answer. */

const server = standIn()
let host: Running
let place: CliPlace
let served: Served

beforeAll(async () => {
  host = await server.start()
  place = cliPlace()
  const embeddings = `{provider: ollama, model: concepts, baseUrl: "${host.url}"}`
  const text = `agents: {main: {model: {windowTokens: 16000}}}\nrecall: {embeddings: ${embeddings}}\n`
  writeFileSync(join(place.folder, 'throughline.yaml'), text)
  served = await place.serve()
  const told = 'The terrier was ill on Monday.'
  await place.run(['send', 'pets', told, '--agent', 'main', '--wait'])
}, 120_000)
afterAll(async () => {
  await place.close()
  await host.close()
})

interface Answer {
  readonly found: readonly { readonly excerpt: string }[]
  readonly note?: string
}

async function ask(words: string): Promise<Answer> {
  const answer = await fetch(`${served.url}/v1/search?${new URLSearchParams({ q: words })}`)
  return (await answer.json()) as Answer
}

it('names at its start the host that receives the texts', async () => {
  const { host: name } = new URL(host.url)
  await expect
    .poll(() => served.stderr(), { timeout: 60_000 })
    .toContain(`the text of every message, and every question, is sent to ${name} to be embedded.`)
})

it('finds what shares no word with the question, over HTTP and in the terminal', async () => {
  await expect
    .poll(async () => (await ask('puppy')).found[0]?.excerpt ?? '', { timeout: 60_000 })
    .toContain('terrier')
  await expect
    .poll(async () => (await place.run(['search', 'hound'])).stdout, { timeout: 60_000 })
    .toContain('terrier')
}, 150_000)

it('finds words alone while the host is away, and says so', async () => {
  await host.close()
  const { found, note } = await ask('terrier')
  expect(found[0]?.excerpt).toContain('terrier')
  expect(note).toMatch(
    /^Searched by words alone: 127\.0\.0\.1:\d+ (cannot be reached|did not answer)/,
  )
  expect((await ask('puppy')).found).toEqual([])
  const { stdout, stderr } = await place.run(['search', 'terrier'])
  expect(stdout).toContain('terrier')
  expect(stderr).toContain('Searched by words alone: ')
}, 120_000)

it('refuses a configuration that names no model, or a key that does not exist', async () => {
  const check = (text: string) => {
    writeFileSync(join(place.folder, 'wrong.yaml'), text)
    return place.run(['config', 'check', '--config', 'wrong.yaml'])
  }
  const misspelt = await check('recall: {embeddings: {provider: ollama, modle: m}}\n')
  expect(misspelt.exitCode).not.toBe(0)
  expect(misspelt.stdout).toMatch(/`recall\.embeddings\.model` is missing[\s\S]*`model`\?/)
  const homeless = await check('recall: {embeddings: {provider: openai-compatible, model: m}}\n')
  expect(homeless.stdout).toContain('`recall.embeddings.baseUrl` is missing')
})
