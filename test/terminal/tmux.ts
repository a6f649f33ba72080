import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { PROGRAM } from '../support/run-cli.ts'

/** The command in a real terminal, as a person sees and uses it. */
export interface TmuxPane {
  keys(...keys: readonly string[]): void
  /** In brackets, as a terminal sends what is pasted when a program asked for them. */
  paste(text: string): void
  screen(): string
  /** Whether the program reads each key by itself, instead of whole lines. */
  isRaw(): boolean
  /** Waits until the screen shows it. */
  shows(pattern: RegExp): Promise<void>
}

interface TmuxPlace {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly program?: string
}

export const hasTmux = spawnSync('tmux', ['-V']).status === 0
if (!hasTmux) console.warn('skipped: a real terminal needs tmux, which is not installed')

const SHOWN_MS_MAX = 100_000

export function openPane(
  { folder, env, program = PROGRAM }: TmuxPlace,
  name: string,
  args: string,
): TmuxPane {
  const tmux = (...words: readonly string[]) =>
    execFileSync('tmux', ['-S', join(folder, 'tmux'), ...words], { encoding: 'utf8' })
  const command = `'${process.execPath}' '${program}' ${args}; echo '$ left'; exec sleep 60`
  const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`])
  const size = ['-x', '70', '-y', '30', '-c', folder]
  tmux('-f', '/dev/null', 'new-session', '-d', '-s', name, ...variables, ...size, command)
  const screen = () => tmux('capture-pane', '-p', '-N', '-t', name)
  return {
    screen,
    isRaw() {
      const tty = tmux('display-message', '-p', '-t', name, '#{pane_tty}').trim()
      return execFileSync('stty', ['-a', '-F', tty], { encoding: 'utf8' }).includes('-icanon')
    },
    keys: (...keys) => {
      for (const key of keys) tmux('send-keys', '-t', name, key)
    },
    paste: (text) => {
      tmux('set-buffer', '-b', name, text)
      tmux('paste-buffer', '-p', '-b', name, '-t', name)
    },
    async shows(pattern) {
      const deadline = Date.now() + SHOWN_MS_MAX
      while (!pattern.test(screen())) {
        if (Date.now() > deadline) throw new Error(`not shown: ${pattern}\n${screen()}`)
        await delay(50)
      }
    },
  }
}

export function closePanes({ folder }: TmuxPlace): void {
  spawnSync('tmux', ['-S', join(folder, 'tmux'), 'kill-server'])
}
