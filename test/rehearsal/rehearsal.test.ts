import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROGRAM, runCli } from '../support/run-cli.ts'
import { temporary } from './temporary.ts'

const program = join(import.meta.dirname, '..', '..', 'packages', 'server', 'bin', 'throughline.js')
const SHORT = ['rehearse', '--agents', '3', '--seconds', '7', '--json']
const SMALL = ['rehearse', '--agents', '2', '--faults', 'none', '--json']

// Real processes on whatever machine this is; a rehearsal ends by itself long before.
const PATIENT = { timeout: 220_000 }

describe.concurrent('throughline rehearse, apart from its verdict', PATIENT, () => {
  it('shuts down when it is interrupted, and removes its files', async () => {
    const place = temporary()
    const store = join(place.folder, 'mine.db')
    const run = start([...SMALL, '--store', store], place.env)
    await run.heard('The worst day')
    const agents = agentsOf(run.pid)
    expect(agents.length).toBeGreaterThan(0)
    expect(existsSync(store)).toBe(true)
    run.kill('SIGINT')
    expect(await run.ended).toBe(130)
    expect(agents.filter(isAlive)).toEqual([])
    expect(readdirSync(place.folder)).toEqual([])
    place.remove()
  })

  it('leaves no agent behind when it is killed itself', async ({ expect }) => {
    const place = temporary()
    const run = start(SMALL, place.env)
    await run.heard('The worst day')
    const agents = agentsOf(run.pid)
    expect(agents.length).toBeGreaterThan(0)
    run.kill('SIGKILL')
    await run.ended
    await expect.poll(() => agents.filter(isAlive), { timeout: 30_000 }).toEqual([])
    place.remove()
  })

  it('changes no file that exists already', async () => {
    const { exitCode, stderr } = await runCli([...SHORT, '--store', program])
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('A rehearsal creates a new store;'),
    })
    expect(existsSync(program)).toBe(true)
  })

  it('lists the faults and the planted bugs', async () => {
    const wrong = await runCli(['rehearse', '--faults', 'earthquake'])
    expect(wrong.exitCode).toBe(2)
    expect(wrong.stderr).toContain('kills, freezes, duplicates')
    // The planted bugs are in the clone only.
    const list = await runCli(['rehearse', '--sabotage', 'list', '--json'], { program })
    const names = (JSON.parse(list.stdout) as { name: string }[]).map(({ name }) => name)
    expect(names).toContain('new-id-on-compaction')
    expect(names.length).toBeGreaterThan(60)
  })
})

function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let told = ''
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return {
    pid: child.pid ?? 0,
    ended,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    heard: (text: string) =>
      new Promise<void>((resolve, reject) => {
        child.stderr.setEncoding('utf8').on('data', (piece: string) => {
          told += piece
          if (told.includes(text)) resolve()
        })
        child.once('exit', (code) => reject(new Error(`ended with ${code}: ${told}`)))
      }),
  }
}

/** The processes that this one started and that are agents. */
function agentsOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const command = readText(`/proc/${pid}/cmdline`)
      const status = readText(`/proc/${pid}/status`)
      return command.includes('agent-process') && status.includes(`\nPPid:\t${parent}\n`)
    })
    .map(Number)
}

function isAlive(pid: number): boolean {
  return readText(`/proc/${pid}/cmdline`).includes('agent-process')
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // It ended while we looked.
  }
}
