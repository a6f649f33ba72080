import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliPlace, cliPlace } from './cli-place.ts'

/** A chat as a person has it, in a real terminal. */

const program = join(import.meta.dirname, '..', '..', 'packages', 'server', 'bin', 'throughline.js')
const hasTmux = spawnSync('tmux', ['-V']).status === 0
if (!hasTmux)
  console.warn('skipped: the chat in a real terminal needs tmux, which is not installed')

describe.skipIf(!hasTmux)('the chat in a real terminal', () => {
  let place: CliPlace
  beforeAll(() => {
    place = cliPlace()
  })
  afterAll(async () => {
    spawnSync('tmux', ['-S', join(place.folder, 'tmux'), 'kill-server'])
    await place.close()
  })

  it('takes a paste as one message, completes commands, and resumes where it was', async () => {
    const first = chat(place, 'first')
    await first.shows(/Talking to main/)
    first.paste('Remember this:\n\n- **one**\n- `two`\n')
    first.keys('and more', 'C-j', 'on a third line')
    await first.shows(/^ {2}on a third line$/m)
    first.keys('Enter')
    await first.shows(/^main\nI am the stand-in model/m)
    await first.shows(/ready ──/)
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

    const second = chat(place, 'second')
    await second.shows(/\(\d+ entries, last .*\)/)
    await second.shows(/^> Remember this:/m)
    await second.shows(/Talking to main/)
    second.keys('C-c', 'C-c')
    await second.shows(/\$ left/)
  }, 180_000)
})

async function onlySession(place: CliPlace): Promise<string> {
  const { stdout } = await place.run(['sessions', '--json'])
  return (JSON.parse(stdout) as { readonly id: string }).id
}

function chat({ folder, env }: CliPlace, name: string) {
  const tmux = (...args: readonly string[]) =>
    execFileSync('tmux', ['-S', join(folder, 'tmux'), ...args], { encoding: 'utf8' })
  const command = `'${process.execPath}' '${program}' chat; echo '$ left'; exec sleep 60`
  const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`])
  const size = ['-x', '70', '-y', '30', '-c', folder]
  tmux('-f', '/dev/null', 'new-session', '-d', '-s', name, ...variables, ...size, command)
  return {
    keys: (...keys: readonly string[]) => {
      for (const key of keys) tmux('send-keys', '-t', name, key)
    },
    /** In brackets, as a terminal sends what is pasted when a program asked for them. */
    paste: (text: string) => {
      tmux('set-buffer', '-b', name, text)
      tmux('paste-buffer', '-p', '-b', name, '-t', name)
    },
    /** Waits until the screen shows it. */
    async shows(pattern: RegExp): Promise<void> {
      const deadline = Date.now() + 100_000
      for (;;) {
        const screen = tmux('capture-pane', '-p', '-N', '-t', name)
        if (pattern.test(screen)) return
        if (Date.now() > deadline) throw new Error(`not shown: ${pattern}\n${screen}`)
        await delay(50)
      }
    },
  }
}
