import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliPlace, cliPlace } from '../product/cli-place.ts'
import { closePanes, hasTmux, openPane } from './tmux.ts'

/** The rest of a first hour: a provider that fails, what it cost, and the care of a session. */
describe.skipIf(!hasTmux)('a first hour in a real terminal', () => {
  let place: CliPlace
  beforeAll(async () => {
    place = cliPlace()
    await place.serve()
  })
  afterAll(async () => {
    closePanes(place)
    await place.close()
  })

  it('shows a refused key, a busy provider, a broken one, and the usage', async () => {
    const chat = openPane(place, 'trouble', 'chat --agent main --session trouble')
    await chat.shows(/Talking to main/)
    chat.keys('fail: 401', 'Enter')
    await chat.shows(says('The stand-in model refuses the credential (status 401'))
    await chat.shows(says('(The turn failed; send the message again to retry.)'))
    chat.keys('fail: 429', 'Enter')
    await chat.shows(says('is limiting the requests of this account (status 429'))
    await chat.shows(says('/continue tries now, /stop ends the turn.'))
    // Once for the reason, although a short retry comes before the wait.
    expect(chat.screen().match(/is\s+limiting\s+the\s+requests/g)).toHaveLength(1)
    chat.keys('/continue', 'Enter')
    await chat.shows(/Trying the model again now\.[\s\S]*Next\s+try\s+in\s+\d+\s+s\./)
    chat.keys('/stop', 'Enter')
    await chat.shows(says('(The turn was stopped; there is no complete answer.)'))
    chat.keys('fail: 500', 'Enter')
    await chat.shows(says('failed; the fault is on its side (status 500'))
    await chat.shows(/── main · waiting for the model/)
    chat.keys('C-c')
    await chat.shows(/\(stopping\)\s+\(The turn was stopped;/)
    chat.keys('say Well again.', 'Enter')
    await chat.shows(/^Well again\.$/m)
    await chat.shows(/── main · ready ·/)
    chat.keys('/status', 'Enter')
    await chat.shows(/Used: [\d,]+ tokens in, \d+ out, cost 0\.00/)
    chat.keys('C-d')
    await chat.shows(/\$ left/)
  }, 300_000)

  it('says once, with the sizes, that a conversation was compacted on request', async () => {
    for (let n = 1; n <= 4; n++) {
      const text = `Fact ${n}: ${'the river is wide and slow here. '.repeat(120)}`
      await place.run(['send', 'long', text, '--agent', 'main', '--wait'])
    }
    const chat = openPane(place, 'long', 'chat --session long')
    await chat.shows(/── main · ready ·/)
    chat.keys('/compact', 'Enter')
    await chat.shows(/\(Compacted:[\s\S]*,\s+[\d,]+\s+->\s+[\d,]+\s+tokens\.\)/)
    // The outcome of the next command comes after that of this one.
    chat.keys('/pin', 'Enter')
    await chat.shows(/No pins\./)
    expect(chat.screen()).not.toContain('Compacted.')
    chat.keys('C-d')
    await chat.shows(/\$ left/)
  }, 300_000)

  it('renames a session, exports and erases it', async () => {
    const shell = async (...args: readonly string[]) => await place.run(args)
    await shell('send', 'talk', 'Water the plants.', '--agent', 'main', '--wait')
    expect((await shell('rename', 'talk', 'The garden')).exitCode).toBe(0)
    expect((await shell('sessions')).stdout).toMatch(/^talk .* The garden/m)
    expect((await shell('export', 'talk', '--to', 'markdown', '-o', 'talk.md')).exitCode).toBe(0)
    const written = readFileSync(join(place.folder, 'talk.md'), 'utf8')
    expect(written).toMatch(/^# The garden\n.*> Water the plants\./s)
    expect((await shell('purge', 'talk', '--yes')).exitCode).toBe(0)
    expect((await shell('sessions')).stdout).not.toMatch(/^talk /m)
    expect((await shell('search', 'plants')).stdout).toBe('')
  }, 300_000)
})

/** Lines break between any two words. */
function says(words: string): RegExp {
  return new RegExp(words.replaceAll(/[().]/g, '\\$&').replaceAll(' ', '\\s+'))
}
