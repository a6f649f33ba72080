import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/run-cli.ts'

/** One host with two users on it: what one leaves lying about must not run as the other. */
const ATTACKER = 65_533
const VICTIM = 65_534
const whyNot = process.geteuid?.() === 0 ? null : 'not run: only root can be two users'

const places: string[] = []
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true })
})

function sharedFolder(): { readonly top: string; readonly work: string } {
  const top = mkdtempSync(join(tmpdir(), 'throughline-shared-'))
  places.push(top)
  chmodSync(top, 0o1777)
  const work = join(top, 'work')
  mkdirSync(work, { mode: 0o755 })
  chownSync(work, VICTIM, VICTIM)
  return { top, work }
}

describe('another user of the host', () => {
  it('runs nothing as me through a configuration above my folder, by any command', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { top, work } = sharedFolder()
    const [file, sign] = [join(top, 'throughline.yaml'), join(work, 'sign')]
    const command = `touch ${sign}; echo x`
    writeFileSync(
      file,
      `store: {url: "postgres://me@127.0.0.1:9/x", password: {kind: command, command: "${command}"}}\n`,
    )
    chownSync(file, ATTACKER, ATTACKER)
    const asVictim = { cwd: work, uid: VICTIM, env: { HOME: work } }
    const ways = [['sessions'], ['serve', '--port', '0']]
    for (const { exitCode, stderr } of await Promise.all(
      ways.map((args) => runCli(args, asVictim)),
    )) {
      expect(stderr).toContain(`The configuration is not used: ${top} is writable by every user.`)
      expect(stderr).toContain(`--config ${file}`)
      expect(exitCode).toBe(2)
    }
    expect(existsSync(sign)).toBe(false)

    // Named, it is trusted, and does what it says.
    await runCli(['sessions', '--config', file], asVictim)
    expect(existsSync(sign)).toBe(true)
  })

  it('has a HOME that I cannot read: I am told so, and what to do', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { top, work } = sharedFolder()
    const home = join(top, 'home')
    mkdirSync(home, { mode: 0o700 })
    const mine = join(work, 'mine.yaml')
    writeFileSync(mine, 'store: postgres://me@127.0.0.1:9/x\n')
    const asVictim = { cwd: work, uid: VICTIM, env: { HOME: home } }
    const [{ exitCode, stderr }, named] = await Promise.all([
      runCli(['serve', '--port', '0'], asVictim),
      runCli(['serve', '--port', '0', '--config', mine], asVictim),
    ])
    expect(named.stderr).toContain('The system refused: EACCES: permission denied, mkdir ')
    expect(named.exitCode).toBe(1)
    expect(stderr).toContain('home/.config/throughline/throughline.yaml')
    expect(stderr).toMatch(/cannot be read \(EACCES\).*--config.*HOME/)
    expect(exitCode).toBe(2)
  })
})
