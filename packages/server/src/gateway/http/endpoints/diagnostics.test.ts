import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { systemClock } from '#core/base/clock'
import { openDiagnostics } from '../diagnostics.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-diagnostics-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'rehearsal.json')
const NOW = 1_800_000_000_000

async function read(text: string): Promise<unknown> {
  writeFileSync(file, text)
  const clock = { ...systemClock, now: () => NOW }
  return await openDiagnostics({ rehearsalFile: file }, { session: fail }, clock).rehearsal()
}

const AGENT = {
  ...{ name: 'ada', contextTokens: 5, windowTokens: 9, state: 'idle', isCompacting: false },
  ...{ compactions: 1, kills: 2, acknowledged: 3, waiting: 4 },
}
const WRITTEN = { writtenAt: NOW, phase: 'storm', elapsedMs: 12.5, agents: [AGENT], verdict: null }
const verdict = { holds: false, broken: ['x'] }
const agents = (count: number) => Array.from({ length: count }, () => AGENT)
const ago = (ms: number) => ({ writtenAt: NOW - ms })

it.each<[string, object, boolean]>([
  ['just written', {}, true],
  ['9,999 ms old', ago(9_999), true],
  ['10 s old', ago(10_000), false],
  ['an hour old', ago(3_600_000), false],
  ['with a verdict', { verdict }, false],
  ['with a phase of 64 characters', { phase: 'x'.repeat(64) }, true],
  ['at its start', { elapsedMs: 0 }, true],
  ['with 64 agents', { agents: agents(64) }, true],
  ['without agents', { agents: [] }, true],
  ['with long names', { agents: [{ ...AGENT, name: 'x'.repeat(128) }] }, true],
  ['with long states', { agents: [{ ...AGENT, state: 'x'.repeat(64) }] }, true],
  [
    'with much that is broken',
    { verdict: { holds: false, broken: Array.from({ length: 50 }, () => 'x'.repeat(500)) } },
    false,
  ],
])('the picture of a rehearsal, %s, is shown whole', async (_, fields, isRunning) => {
  const written = { ...WRITTEN, ...fields }
  expect(await read(JSON.stringify(written))).toEqual({ ...written, isRunning })
})

const counts = ['contextTokens', 'windowTokens', 'compactions', 'kills', 'acknowledged', 'waiting']

it.each<[string, object]>([
  ['older than an hour', ago(3_600_001)],
  ['with a longer phase', { phase: 'x'.repeat(65) }],
  ['before its start', { elapsedMs: -1 }],
  ['with 65 agents', { agents: agents(65) }],
  ['with longer names', { agents: [{ ...AGENT, name: 'x'.repeat(129) }] }],
  ['with longer states', { agents: [{ ...AGENT, state: 'x'.repeat(65) }] }],
  ...counts.map((name): [string, object] => [
    `with ${name} below zero`,
    { agents: [{ ...AGENT, [name]: -1 }] },
  ]),
  [
    'with more that is broken',
    { verdict: { holds: false, broken: Array.from({ length: 51 }, () => 'x') } },
  ],
  ['with longer words', { verdict: { holds: false, broken: ['x'.repeat(501)] } }],
  ...Object.keys(WRITTEN).map((name): [string, object] => [
    `without ${name}`,
    { [name]: undefined },
  ]),
  ...Object.keys(AGENT).map((name): [string, object] => [
    `without ${name} of an agent`,
    { agents: [{ ...AGENT, [name]: undefined }] },
  ]),
  ['without an end', { verdict: { broken: [] } }],
  ['without reasons', { verdict: { holds: true } }],
])('a picture %s is not shown', async (_, fields) => {
  expect(await read(JSON.stringify({ ...WRITTEN, ...fields }))).toBeNull()
})

it('a picture of 256 KiB at most is read, and nothing that is no JSON', async () => {
  const text = JSON.stringify(WRITTEN)
  expect(await read(text.padEnd(256 * 1024))).toEqual({ ...WRITTEN, isRunning: true })
  expect(await read(text.padEnd(256 * 1024 + 1))).toBeNull()
  expect(await read(text.slice(1))).toBeNull()
})

it('nothing is known of a store in memory without logs and rehearsals', async () => {
  const { storeBytes, audit, rehearsal } = openDiagnostics({}, { session: fail }, systemClock)
  expect([await storeBytes(), await audit(), await rehearsal()]).toEqual([null, null, null])
})

function fail(): never {
  throw new Error('not asked for')
}
