import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { SILENT } from '../../packages/core/src/base/logger.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { Recorder } from '../../packages/server/src/runtime/client-sessions/recorder.ts'
import { runCli } from '../support/run-cli.ts'
import { until } from '../support/until.ts'

const WINDOW = 8_000
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

it('commands list the handoffs of a client, report on one and undo it while the proxy runs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-handoffs-'))
  closers.push(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'clients.db')
  const store = await openSqliteStore({ path })
  closers.push(() => store.close())
  const options = { store, clock: systemClock, logger: SILENT, windowTokens: WINDOW }
  const proxy = new Recorder(options)
  closers.push(() => proxy.close())
  const messages: { role: string; content: string }[] = []
  const turn = async (text: string, input_tokens: number): Promise<number> => {
    messages.push({ role: 'user', content: text })
    const body = Buffer.from(JSON.stringify({ model: 'claude-x', messages, tools: [{}] }))
    const headers = { 'x-claude-code-session-id': 's1' }
    const asked = await proxy.begin({ path: '/v1/messages', headers, body, launch: null })
    const content = [{ type: 'text', text: 'Noted.' }]
    asked.take({ type: 'message', role: 'assistant', content, usage: { input_tokens } })
    await asked.end()
    messages.push({ role: 'assistant', content: 'Noted.' })
    return asked.boundary
  }
  for (let at = 0; at < 12; at += 1) await turn(`Part ${at}. ${'Long text. '.repeat(100)}`, 100)
  await turn('More', WINDOW * 0.7)
  const id = sessionId('claude-s1')
  await until(async () => ((await store.findSession(id))?.effective ?? 0) > 0)
  const entry = await turn('Next', 100)
  expect(entry).toBeGreaterThan(0)

  const run = (...args: string[]) => runCli([...args, '--store', path], { cwd: folder })
  const listed = await run('sessions')
  expect(listed.stdout).toMatch(/ (now|\d+ (s|min) ago) /)
  expect(listed.stdout).not.toContain(`entry ${entry}`)
  const wrong = await run('show', 'claude-s1', '--compaction', '1')
  expect(wrong.stderr).toContain(`Its newest compactions: ${entry}.`)
  const report = await run('show', 'claude-s1', '--compaction', String(entry))
  expect(report.stdout).toContain('written by the digest (background)')
  expect(report.stdout).toContain('Cost: no model calls.')
  expect(report.stdout).toMatch(/recallable: .* [1-9]\d* messages/)

  const undone = await run('compact', '--session', 'claude-s1', '--undo')
  expect(undone.exitCode, undone.stderr).toBe(0)
  expect(undone.stderr).toMatch(
    /^Undone: the handoff at entry \d+\..* which the provider has not cached/,
  )
  expect(await turn('After', 100)).toBe(0)
  const again = await run('compact', '--session', 'claude-s1', '--undo')
  expect([again.exitCode, again.stderr]).toEqual([
    1,
    expect.stringContaining('has no compaction in effect; nothing to undo'),
  ])
}, 120_000)
