import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { CredentialError, Credentials } from './credential.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a credential', () => {
  it('comes from a variable, a file, a field of a file, or a command', async () => {
    const keys = new Credentials({ KEY: ' k1 ' })
    const file = join(folder, 'key')
    writeFileSync(file, 'k2\n')
    const login = join(folder, 'auth.json')
    writeFileSync(login, JSON.stringify({ tokens: { access_token: 'k3' } }))
    expect(await keys.read({ kind: 'variable', name: 'KEY' })).toBe('k1')
    expect(await keys.read({ kind: 'file', path: file })).toBe('k2')
    expect(await keys.read({ kind: 'file', path: login, field: 'tokens.access_token' })).toBe('k3')
    expect(await keys.read({ kind: 'command', command: 'echo k4' })).toBe('k4')
    expect(await keys.read({ kind: 'none' })).toBe('')
  })

  it('may be in a file under the home directory, written as ~/', async () => {
    const home = process.env['HOME']
    process.env['HOME'] = folder
    try {
      writeFileSync(join(folder, 'home-key'), 'k5')
      const keys = new Credentials({})
      expect(await keys.read({ kind: 'file', path: '~/home-key' })).toBe('k5')
    } finally {
      process.env['HOME'] = home
    }
  })

  it('is read once, and again only on request', async () => {
    const file = join(folder, 'login')
    const source = { kind: 'file', path: file } as const
    writeFileSync(file, 'old')
    const keys = new Credentials({})
    expect(await keys.read(source)).toBe('old')
    expect(await keys.renew(source, 'old')).toBe(false)
    writeFileSync(file, 'new')
    expect(await keys.read(source)).toBe('old')
    expect(await keys.renew(source, 'old')).toBe(true)
    expect(await keys.read(source)).toBe('new')
    rmSync(file)
    expect(await keys.renew(source, 'new')).toBe(false)
  })

  it('that another call has reloaded in the meantime counts as changed', async () => {
    const file = join(folder, 'shared')
    const source = { kind: 'file', path: file } as const
    writeFileSync(file, 'old')
    const keys = new Credentials({})
    await keys.read(source)
    writeFileSync(file, 'new')
    expect(await keys.renew(source, 'old')).toBe(true)
    expect(await keys.renew(source, 'old')).toBe(true)
    expect(await keys.renew(source, 'new')).toBe(false)
  })

  it('that a header cannot contain is refused with its source, and not quoted', async () => {
    const whole = join(folder, 'whole.json')
    writeFileSync(whole, JSON.stringify({ tokens: { access_token: 'sk-secret' } }, null, 2))
    const keys = new Credentials({ ODD: 'sk-secret-世' })
    for (const source of [
      { kind: 'file', path: whole },
      { kind: 'variable', name: 'ODD' },
      { kind: 'command', command: `cat ${whole}` },
    ] as const) {
      const error = await keys.read(source).catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(CredentialError)
      expect(String(error)).not.toContain('sk-secret')
    }
  })

  it('that is missing is reported by its source, never its content', async () => {
    const keys = new Credentials({})
    const broken = join(folder, 'broken.json')
    writeFileSync(broken, '{"tokens": "sk-secret"')
    const sources = [
      { kind: 'variable', name: 'NO_SUCH_KEY' },
      { kind: 'file', path: join(folder, 'absent') },
      { kind: 'file', path: broken, field: 'tokens.access_token' },
      { kind: 'command', command: 'echo sk-secret; exit 3' },
      { kind: 'command', command: 'true' },
    ] as const
    for (const source of sources) {
      const error = await keys.read(source).catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(CredentialError)
      expect(String(error)).not.toContain('sk-secret')
    }
  })

  it('is not awaited from a pipe or a device, and may have 256 kB', async () => {
    const keys = new Credentials({})
    const [large, pipe] = [join(folder, 'large'), join(folder, 'pipe')]
    writeFileSync(large, 'x'.repeat(256 * 1024 + 1))
    execFileSync('mkfifo', [pipe])
    for (const path of [pipe, '/dev/zero', folder, large]) {
      await expect(keys.read({ kind: 'file', path })).rejects.toThrow(
        `${path} should be a file that holds a key alone.`,
      )
    }
  })
})
