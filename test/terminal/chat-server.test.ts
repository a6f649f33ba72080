import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { standIn } from '../../packages/server/src/stand-in/index.ts'
import { type CliPlace, cliPlace } from '../product/cli-place.ts'
import { closePanes, hasTmux, openPane } from './tmux.ts'

/** A chat beside a server of the same store: the server runs the agent. */

let place: CliPlace
beforeEach(() => {
  place = cliPlace()
})
afterEach(async () => {
  closePanes(place)
  await place.close()
})

describe('chat beside a server', () => {
  it('needs no key: only the server has it, and --local runs the agent here', async () => {
    const provider = await standIn().start()
    writeFileSync(
      join(place.folder, 'throughline.yaml'),
      `agents: {main: {model: {provider: openai-chat, model: m, windowTokens: 16000,
        baseUrl: '${provider.url}/v1', credential: {kind: variable, name: PLACE_KEY}}}}\n`,
    )
    const server = await place.serve([], { PLACE_KEY: 'k-1' })
    const said = {
      input: 'The word is BASALT.\nWhat is the word?\n/pin rule Be brief.\n/pin\n/new\n',
    }
    const served = await place.run(['chat'], said)
    expect(served).toMatchObject({ exitCode: 0, stderr: '' })
    expect(served.stdout).toMatch(/I found this in .*BASALT/)
    expect(served.stdout).toContain('Pinned as rule.')
    expect(served.stdout).toContain('Pins: rule')
    const sessions = (await place.run(['sessions', '--json'])).stdout.trim().split('\n')
    expect(sessions).toHaveLength(2)
    const local = await place.run(['chat', '--local', '--session', 'mine', '--agent', 'main'], {
      input: '/status\n',
    })
    expect(local).toMatchObject({ exitCode: 0 })
    expect(local.stdout).toContain('Session mine of main')
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    // Without a server the chat runs the agent itself, which lacks the key.
    const alone = await place.run(['chat', '--session', 'mine'], { input: '/status\n' })
    expect(alone).toMatchObject({ exitCode: 0 })
    expect(alone.stderr).toContain('no server runs on this store, so this chat runs the agent')
    expect(local.stderr).not.toContain('no server runs')
    await provider.close()
  }, 120_000)
})

describe.skipIf(!hasTmux)('chat on a terminal beside a server', () => {
  it('continues after the server was killed in the middle of an answer: nothing lost or doubled', async () => {
    const first = await place.serve()
    const chat = openPane(place, 'killed', 'chat --agent main --session killed')
    await chat.shows(/Talking to main in session killed\./)
    await chat.shows(new RegExp(`The server at ${first.url} runs the agent`))
    chat.keys('The code word is GRANITE.', 'Enter')
    await chat.shows(/I am the stand-in model.*· ready ·/s)
    chat.keys('slowly: What was the code word?', 'Enter')
    await chat.shows(/What was the code word\?.*\nmain\nI am the stand-in/s)
    first.child.kill('SIGKILL')
    await chat.shows(/The answer was interrupted/)
    await chat.shows(/The server stopped/)
    chat.keys('And what was the code word again?', 'Enter')
    await place.serve()
    await chat.shows(/The server is back/)
    // It may enter the turn that the new server takes up; then one answer is for both.
    await chat.shows(/back\.\).*I found this.*GRANITE.*· ready ·/s)
    chat.keys('C-d')
    await chat.shows(/\$ left/)
    const { stdout } = await place.run(['show', 'killed', '--json'])
    const entries = stdout
      .trim()
      .split('\n')
      .filter((line) => /"kind":"(?:input|assistant)"/.test(line))
    const inputs = entries.filter((line) => line.includes('"kind":"input"'))
    expect(inputs).toHaveLength(3)
    expect(inputs[1]).toContain('slowly: What was the code word?')
    expect(inputs[2]).toContain('And what was the code word again?')
    expect(entries.at(-1)).toMatch(/"kind":"assistant".*GRANITE/)
    const drawn = chat.screen().match(/I found this/g) ?? []
    expect(drawn).toHaveLength(entries.length - inputs.length - 1)
  }, 240_000)

  it('can be left without a server, and lists the unsent messages', async () => {
    const server = await place.serve()
    const chat = openPane(place, 'leaves', 'chat --agent main --session leaves')
    await chat.shows(/Talking to main/)
    await chat.shows(/· ready ·/)
    server.child.kill('SIGTERM')
    await server.ended
    await chat.shows(/The server stopped.*no server ·/s)
    chat.keys('Is anybody there?', 'Enter')
    chat.keys('C-d')
    await chat.shows(/was not sent.*\$ left/s)
  }, 120_000)
})
