import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/run-cli.ts'
import { isCaught, readOutcome } from './outcome.ts'

const SMALL = ['rehearse', '--agents', '2', '--faults', 'none', '--json', '--seconds', '5']

describe('throughline rehearse', { timeout: 220_000 }, () => {
  // One that is planted in the threads of the store and one in the agent itself; which law finds it
  // first depends on the machine. `npm run rehearse:sabotages` tries them all.
  it.each(['same-fence-on-acquire', 'any-handoff-accepted'])(
    'finds the planted bug %s',
    async (sabotage) => {
      const folder = mkdtempSync(join(tmpdir(), 'throughline-stage-'))
      const args = [...SMALL, '--sabotage', sabotage]
      const { exitCode, stdout, stderr } = await runCli(args, { env: { TMPDIR: folder } })
      rmSync(folder, { recursive: true, force: true })
      expect(exitCode, stderr).toBe(1)
      expect(isCaught(readOutcome(stdout)), stdout).toBe(true)
    },
  )
})
