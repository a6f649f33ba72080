import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PROGRAM } from '../support/run-cli.ts'
import { type CliPlace, cliPlace } from './cli-place.ts'

/** What scripts and people hear, from processes beside the server, when a turn cannot go on. */

let place: CliPlace
let status = 500
let host: string
const provider = createServer((_, response) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
})

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(provider.address() as AddressInfo).port}`
  place = cliPlace()
  await place.serve(
    Object.entries({
      provider: 'openai-compatible',
      baseUrl: `http://${host}/v1`,
      model: 'x',
    }).flatMap(([key, value]) => ['--set', `agents.main.model.${key}=${value}`]),
  )
})
afterAll(async () => {
  await place.close()
  provider.close()
})

it('a script is informed why no answer comes, and the list shows that the session waits', async () => {
  status = 500
  const { exitCode, stderr } = await place.run([
    ...['send', 'away', 'Hello.', '--agent', 'main', '--wait', '--timeout', '8s'],
  ])
  expect(exitCode).toBe(1)
  const said = `${host} failed; the fault is on its side (status 500). Your message is safe`
  expect(stderr).toContain(said)
  expect(stderr).toMatch(/when the model is back\. Next try (?:now|in \d+ s)\./)
  expect((await place.run(['sessions'])).stdout).toMatch(/^away +main +waits for the model /m)
})

it('a piped chat says why no answer comes', async () => {
  status = 500
  const chat = spawn(process.execPath, [PROGRAM, 'chat', '--session', 'piped', '--agent', 'main'], {
    cwd: place.folder,
    env: { PATH: process.env['PATH'], ...place.env },
    stdio: 'pipe',
  })
  let stderr = ''
  chat.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<number | null>((resolve) => chat.on('close', resolve))
  chat.stdin.end('Hello.\n')
  await expect
    .poll(() => stderr, { timeout: 60_000 })
    .toContain(`${host} failed; the fault is on its side (status 500).`)
  // The next try ends the turn.
  status = 401
  expect(await ended).toBe(1)
  expect(stderr).toContain('The turn ended without an answer: failed.')
})

it('a refused key is not tried again, and nothing says that it is', async () => {
  status = 401
  const { exitCode, stdout, stderr } = await place.run([
    ...['send', 'refused', 'Hello.', '--agent', 'main', '--wait'],
  ])
  expect(exitCode).toBe(1)
  expect(stdout).toContain(`${host} refuses the credential (status 401`)
  expect(stderr).toBe('The turn ended without an answer: failed.\n')
})

it('the list says that a session of the server is paused, and what to do', async () => {
  const spent = cliPlace()
  try {
    writeFileSync(
      join(spent.folder, 'throughline.yaml'),
      'limits: {spend: {session: {tokens: 1}}}\n',
    )
    const { child, ended } = await spent.serve()
    await spent.run(['send', 'thrifty', 'Hello.', '--agent', 'main', '--wait'])
    await spent.run(['send', 'thrifty', 'Once more.'])
    const list = () => spent.run(['sessions'])
    await expect
      .poll(async () => (await list()).stdout, { timeout: 60_000 })
      .toMatch(/^thrifty +main +paused at a limit /m)
    const { stderr } = await list()
    expect(stderr).toMatch(/^thrifty: Paused\. This session spent [\d,]+ of 1 tokens/m)
    expect(stderr).toContain('/continue in the terminal')
    for (const command of [
      ['send', 'thrifty', 'And now?', '--wait'],
      ['chat', '--session', 'thrifty'],
    ]) {
      const ended = await spent.run(command, { input: 'And now?\nAnd then?\n' })
      expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
      expect(ended.stderr).toMatch(/Paused\. This session spent [\d,]+ of 1 tokens/)
      expect(ended.stderr).toContain('is stored and is answered after that.')
    }
    expect((await spent.run(['show', 'thrifty'])).stderr).toContain('Paused. This session spent')
    // It stays paused while no process serves it.
    child.kill('SIGTERM')
    await ended
    expect((await list()).stdout).toMatch(/^thrifty +main +paused at a limit /m)
  } finally {
    await spent.close()
  }
}, 120_000)
