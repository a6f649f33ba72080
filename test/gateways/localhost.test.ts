import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { PROGRAM } from '../support/run-cli.ts'

const run = promisify(execFile)

/** Runs a program where loopback has 127.0.0.1 alone. */
const WITHOUT =
  'ip link set lo up && echo 1 > /proc/sys/net/ipv6/conf/lo/disable_ipv6 && exec "$0" "$@"'

const ASK = `
  const { spawn } = require('node:child_process')
  const { request } = require('node:http')
  const server = spawn(process.execPath, [process.argv[1], 'serve', '--json', '--port', '0'],
    { stdio: ['ignore', 'pipe', 'inherit'] })
  server.stdout.once('data', (line) => {
    const { url } = JSON.parse(line)
    request(url + '/v1/agents', { headers: { host: 'localhost' } }, ({ statusCode }) => {
      console.log(statusCode)
      server.kill('SIGKILL')
      process.exit()
    }).end()
  })`

it('serve answers for `localhost` on a machine without [::1]', { timeout: 60_000 }, async (ctx) => {
  const apart = ['--net', ...(process.geteuid?.() === 0 ? [] : ['--map-root-user'])]
  const inside = (...command: readonly string[]) => [...apart, 'sh', '-c', WITHOUT, ...command]
  const can = await run('unshare', inside('true')).then(
    () => true,
    () => false,
  )
  if (!can) return ctx.skip('not run: no network without [::1] can be made here')
  const cwd = mkdtempSync(join(tmpdir(), 'throughline-localhost-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const env = { ...process.env, HOME: cwd }
  const { stdout } = await run('unshare', inside(process.execPath, '-e', ASK, PROGRAM), {
    cwd,
    env,
  })
  expect(stdout).toBe('200\n')
})
