import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { RehearsalReport } from '../../packages/server/src/rehearsal/report.ts'
import { runCli } from '../support/run-cli.ts'
import { isClean, readOutcome } from './outcome.ts'
import { temporary } from './temporary.ts'

const SHORT = ['rehearse', '--agents', '3', '--seconds', '7', '--json']

// Real processes on whatever machine this is; a rehearsal ends by itself long before.
const PATIENT = { timeout: 220_000 }

describe('throughline rehearse', PATIENT, () => {
  it('finds no law broken by three agents on their worst day, and leaves nothing behind [D8]', async () => {
    const place = temporary()
    const { exitCode, stdout, stderr } = await runCli(SHORT, { env: place.env })
    const outcome = readOutcome(stdout)
    expect(isClean(outcome), `${outcome.offences.join('\n')}${stderr}`).toBe(true)
    const report = JSON.parse(stdout) as RehearsalReport
    expect(exitCode).toBe(0)
    expect(report.audit.logs.length).toBeGreaterThanOrEqual(3 + report.figures.kills)
    const { acknowledged, answered, stopped, compactions, meanwhile, asked } = report.figures
    expect(answered + stopped).toBe(acknowledged)
    for (const figure of [answered, compactions, meanwhile]) expect(figure).toBeGreaterThan(2)
    expect(asked).toBeGreaterThan(3)
    expect(stderr).toContain('The worst day')
    expect(readdirSync(place.folder)).toEqual([])
    place.remove()
  })
})
