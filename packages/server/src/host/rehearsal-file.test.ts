import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '#core/base/clock'
import { openMemoryStore } from '#core/store/memory/open'
import { openDiagnostics } from '../gateway/http/diagnostics.ts'
import type { RehearsalReport } from '../rehearsal/report.ts'
import { openRuntime } from '../runtime/open-runtime.ts'
import { PictureFile } from './rehearsal-file.ts'

const AGENT = {
  ...{ name: 'agent-1', contextTokens: 10, windowTokens: 100, state: 'idle', isCompacting: true },
  ...{ compactions: 1, kills: 2, acknowledged: 3, waiting: 4 },
}

it('a server shows the state of a rehearsal beside it, and at the end the broken laws', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-picture-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const rehearsalFile = join(folder, 'rehearsal.json')
  const runtime = await openRuntime({ store: openMemoryStore(), agents: [], runs: false })
  onTestFinished(() => runtime.close())
  const server = openDiagnostics({ rehearsalFile }, runtime, systemClock)
  expect(await server.rehearsal()).toBeNull()
  const file = new PictureFile(rehearsalFile)
  file.draw({ phase: 'driving', elapsedMs: 500, agents: [AGENT] })
  expect(await server.rehearsal()).toMatchObject({
    ...{ phase: 'driving', elapsedMs: 500, agents: [AGENT], verdict: null, isRunning: true },
  })
  expect(statSync(rehearsalFile).mode & 0o777).toBe(0o600)
  const verdicts = [
    { law: 'kept', verdict: 'broken' },
    { law: 'played', verdict: 'not-played' },
  ]
  const laws = [
    { law: 'overlap', holds: false },
    { law: 'fences', holds: true },
  ]
  file.end({ holds: false, verdicts, audit: { laws } } as unknown as RehearsalReport)
  expect(await server.rehearsal()).toMatchObject({
    ...{ isRunning: false, verdict: { holds: false, broken: ['kept', 'overlap'] } },
  })
  expect(readdirSync(folder)).toEqual(['rehearsal.json'])
})
