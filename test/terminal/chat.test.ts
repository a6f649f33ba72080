import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliPlace, cliPlace } from '../product/cli-place.ts'
import { SOURCE_PROGRAM } from '../support/run-cli.ts'
import { until } from '../support/until.ts'
import { closePanes, hasTmux, openPane } from './tmux.ts'

/** A chat as a person has it, in a real terminal. */

describe.skipIf(!hasTmux)('the chat in a real terminal', () => {
  let place: CliPlace
  beforeAll(() => {
    place = cliPlace()
  })
  afterAll(async () => {
    closePanes(place)
    await place.close()
  })

  it('treats a paste as one message, completes commands, and resumes the session', async () => {
    const first = openPane(place, 'first', 'chat')
    await first.shows(/Talking to main/)
    await first.shows(/This chat runs the agent itself, without a server\./)
    first.paste('Remember this:\n\n- **one**\n- `two`\n')
    first.keys('and more', 'C-j', 'on a third line')
    await first.shows(/^ {2}on a third line$/m)
    first.keys('Enter')
    await first.shows(/^main\nI am the stand-in model/m)
    await first.shows(/· ready ·/)
    first.keys('/sta', 'Tab')
    await first.shows(/^> \/status $/m)
    first.keys('Enter')
    await first.shows(/Used: .* tokens in/)
    first.keys('C-d')
    await first.shows(/\$ left/)
    const { stdout } = await place.run(['show', await onlySession(place), '--json'])
    const inputs = stdout.split('\n').filter((line) => line.includes('"kind":"input"'))
    expect(inputs).toHaveLength(1)
    expect(inputs[0]).toContain('- `two`\\nand more\\non a third line')

    const second = openPane(place, 'second', 'chat')
    await second.shows(/\(\d+ entries, last .*\)/)
    await second.shows(/^> Remember this:/m)
    await second.shows(/Talking to main/)
    second.keys('C-c', 'C-c')
    await second.shows(/\$ left/)
  }, 180_000)

  it('sends lines that were entered before it was ready', async () => {
    const eager = openPane(place, 'eager', 'chat --agent main --session eager')
    eager.keys('The word is BASALT.', 'Enter', 'What is the word?', 'Enter')
    await eager.shows(/I found this in .*BASALT/s)
    eager.keys('C-d')
    await eager.shows(/\$ left/)
    const { stdout } = await place.run(['show', 'eager', '--json'])
    expect(stdout.split('\n').filter((line) => line.includes('"kind":"input"'))).toHaveLength(2)
  }, 180_000)

  it('takes what was typed and pasted while it started as it is', async () => {
    // The chat opens the keyboard first; here the rest of it waits until all is typed.
    const go = join(place.folder, 'go')
    const env = { ...place.env, NODE_OPTIONS: `--import=${heldBack(go)}`, LC_ALL: 'C.UTF-8' }
    // From the sources: a bundle has no file of its own to hold back.
    const started = { ...place, env, program: SOURCE_PROGRAM }
    const early = openPane(started, 'early', 'chat --agent main --session early')
    await until(() => early.isRaw())
    early.keys('Grüße, 日本 🙂: ', 'x'.repeat(90), 'C-j', 'and a second line')
    early.keys('Enter')
    early.paste('pasted\n\nas one')
    early.keys('Enter', 'not sent yet')
    writeFileSync(go, '')
    await early.shows(/^> not sent yet/m)
    const readInputs = async () => {
      const { stdout } = await place.run(['show', 'early', '--json'])
      return stdout.split('\n').filter((line) => line.includes('"kind":"input"'))
    }
    // The line is shown before the messages are sent.
    await expect.poll(readInputs).toHaveLength(2)
    early.keys('C-u', 'C-d')
    await early.shows(/\$ left/)
    const inputs = await readInputs()
    expect(inputs).toHaveLength(2)
    expect(inputs[0]).toContain(`Grüße, 日本 🙂: ${'x'.repeat(90)}\\nand a second line"`)
    expect(inputs[1]).toContain('"pasted\\n\\nas one"')
  }, 180_000)
})

/** Loads what follows the keyboard only once the file is there. */
function heldBack(go: string): string {
  const hooks = `
    import { existsSync } from 'node:fs'
    export async function load(url, context, next) {
      while (url.endsWith('/connect.ts') && !existsSync(${JSON.stringify(go)}))
        await new Promise((resolve) => setTimeout(resolve, 20))
      return await next(url, context)
    }`
  const encoded = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`
  return encoded(
    `import { register } from 'node:module'; register('${encoded(hooks).replaceAll("'", '%27')}')`,
  ).replaceAll("'", '%27')
}

async function onlySession(place: CliPlace): Promise<string> {
  const { stdout } = await place.run(['sessions', '--json'])
  return (JSON.parse(stdout) as { readonly id: string }).id
}
