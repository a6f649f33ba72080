import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isAlive } from '../support/alive.ts'
import { runCli } from '../support/run-cli.ts'

it('the tour shows a compaction, a killed server, a recalled fact and an undo', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-tour-'))
  const env = { TMPDIR: folder, HOME: folder, XDG_STATE_HOME: folder }
  const { stdout, stderr, exitCode } = await runCli(['demo', '--fast'], { cwd: folder, env })
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  expect(stdout).toMatch(/^The page of this server: http:\/\/127\.0\.0\.1:\d+\n/)
  expect(stdout).toMatch(/answered in +\d+ ms {3}a compaction runs in the background/)
  const [, before, after] = /entries 1 to \d+: ([\d,]+) -> ([\d,]+) tokens/.exec(stdout) ?? []
  expect(number(after)).toBeLessThan(number(before) / 2)
  expect(stdout).toMatch(/Turns waited 0 ms for it\. Session id: still tour\./)
  expect(stdout).toMatch(
    / +kill -9 \d+\n[^>]*\(The answer was interrupted and will start again\.\)\n +serve again, process \d+\n[^\n]*I found this in [^\n]*handoff.*03:40/,
  )
  expect(stdout).toMatch(/> use recall[^\n]*\n[^\n]*\n[^\n]*#2 person.*03:40/)
  // Only a line that is too long is cut.
  for (const [, line] of stdout.matchAll(/^ +(.*…)$/gm)) expect(line).toHaveLength(140)
  const [, full, back] = /before +\S+ (\d+) % *\n +after +\S+ (\d+) %/.exec(stdout) ?? []
  expect(Number(back)).toBeGreaterThan(Number(full))
  for (const [, pid] of stdout.matchAll(/(?:kill -9|process) (\d+)/g)) {
    expect(isAlive(Number(pid))).toBe(false)
  }
  expect(readdirSync(folder).filter((name) => name.startsWith('throughline-demo'))).toEqual([])
  rmSync(folder, { recursive: true, force: true })
}, 300_000)

function number(text = ''): number {
  return Number(text.replaceAll(',', ''))
}
