import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { programEnvironment, stateFolder, statePath } from './operating-system.ts'

describe('onEndSignal', () => {
  it.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'calls back on the first %s, and ends the process on the second',
    async (sent, status) => {
      const source = `
      import { onEndSignal } from ${JSON.stringify(new URL('./operating-system.ts', import.meta.url).href)}
      onEndSignal((signal) => process.stdout.write(signal + '\\n'))
      setTimeout(() => {}, 20_000)
      process.stdout.write('ready\\n')`
      const child = spawn(process.execPath, ['--input-type=module', '-e', source])
      const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
      let said = ''
      for await (const chunk of child.stdout) {
        said += chunk
        if (said.endsWith('ready\n') || said.endsWith(`ready\n${sent}\n`)) child.kill(sent)
      }
      expect({ said, code: await ended }).toEqual({ said: `ready\n${sent}\n`, code: status })
    },
  )
})

describe('programEnvironment', () => {
  it('passes no key to a program that an agent starts', () => {
    expect(
      programEnvironment({ PATH: '/bin', OPENAI_API_KEY: 'x', THROUGHLINE_STORE: 'y' }),
    ).toEqual({ PATH: '/bin' })
  })
})

describe('stateFolder', () => {
  const places: string[] = []
  afterEach(() => {
    for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true })
  })

  function place(): string {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-state-'))
    places.push(folder)
    return folder
  }

  it('is the named folder, whether it exists or not, if only the user can write to it', () => {
    const named = place()
    for (const path of [named, join(named, 'deep', 'er')]) {
      expect(stateFolder({ XDG_STATE_HOME: path })).toBe(join(path, 'throughline'))
    }
    mkdirSync(join(named, 'throughline'))
    expect(stateFolder({ XDG_STATE_HOME: named })).toBe(join(named, 'throughline'))
  })

  it('is the usual one if the named path is empty or not absolute', () => {
    const usual = join(homedir(), '.local', 'state', 'throughline')
    for (const named of [undefined, '', 'state', './x']) {
      expect(stateFolder({ XDG_STATE_HOME: named })).toBe(usual)
    }
  })

  it.each([
    ['the folder', (named: string) => chmodSync(named, 0o777)],
    ['a folder above it', (named: string) => chmodSync(join(named, '..'), 0o777)],
    ['its own folder', (named: string) => chmodSync(join(named, 'throughline'), 0o777)],
    ['the end of a link', (named: string) => linkElsewhere(named)],
  ])('is refused if others can write to %s', (_, harm) => {
    const named = join(place(), 'state')
    mkdirSync(join(named, 'throughline'), { recursive: true, mode: 0o700 })
    harm(named)
    expect(() => stateFolder({ XDG_STATE_HOME: named })).toThrow(
      /throughline \(XDG_STATE_HOME\) is not used: .* is writable by every user\. .* Set XDG_STATE_HOME/,
    )
  })

  it('is refused if it belongs to another user', (context) => {
    if (process.geteuid?.() !== 0) return context.skip('not run: only root can be two users')
    const named = place()
    chownSync(named, 65_533, 65_533)
    expect(() => stateFolder({ XDG_STATE_HOME: named })).toThrow('belongs to another user (65533)')
  })

  it('is refused below a HOME in which others can write', () => {
    const home = place()
    vi.stubEnv('HOME', home)
    try {
      expect(stateFolder({})).toBe(join(home, '.local', 'state', 'throughline'))
      chmodSync(home, 0o777)
      expect(() => stateFolder({})).toThrow(/\(below HOME\) is not used: .* Set XDG_STATE_HOME to/)
      // To name it, for what no tool may read.
      expect(statePath({})).toBe(join(home, '.local', 'state', 'throughline'))
    } finally {
      vi.unstubAllEnvs()
    }
  })

  function linkElsewhere(named: string): void {
    const open = place()
    mkdirSync(join(open, 'throughline'))
    chmodSync(open, 0o777)
    rmSync(named, { recursive: true })
    symlinkSync(open, named)
  }
})
