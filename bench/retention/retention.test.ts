import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toolCall, toolResult } from '../../test/support/builders.ts'
import { atomsOf, demandOf, isKept } from './atoms.ts'
import { corpusFolder, readSessions, recordedEvents } from './sessions.ts'
import { DIGEST_AND_LEDGER, runSetting, SUMMARY_AND_LEDGER, TAIL_AND_LEDGER } from './settings.ts'

describe('the measure of retention', () => {
  it('splits arguments into atoms and takes only the path of a written file', () => {
    const call = { type: 'tool-call', id: '1', name: 'Bash' } as const
    const input = { command: 'git log --oneline (src/a.ts:) abc "v1.234"' }
    expect(atomsOf({ ...call, input })).toEqual(['--oneline', 'src/a.ts', 'v1.234'])
    const file = { file_path: '/srv/app.ts', content: 'see /srv/other.ts' }
    expect(atomsOf({ ...call, name: 'Write', input: file })).toEqual(['/srv/app.ts'])
  })

  it('needs an atom only if history held it and nothing brought it back', () => {
    const after = [
      toolCall('a', { command: 'cat /srv/old.ts /srv/new.ts' }),
      toolResult('a', 'see /srv/shown.ts'),
      toolCall('b', { command: 'cat /srv/shown.ts' }),
    ]
    expect(demandOf('/srv/old.ts /srv/shown.ts', after)).toEqual(['/srv/old.ts'])
  })

  it('finds a path by its last two components only when lenient', () => {
    expect(isKept('/srv/app/main.ts', 'in app/main.ts')).toEqual({ strict: false, lenient: true })
  })
})

describe('retention on recorded compactions', () => {
  const folder = corpusFolder()
  const floors = [
    ['summary and ledger', SUMMARY_AND_LEDGER, 5_000, 0.78],
    ['digest and ledger', DIGEST_AND_LEDGER, 5_000, 0.7],
    ['tail, ledger and digest', TAIL_AND_LEDGER, 15_000, 0.88],
  ] as const
  for (const [name, setting, tokensMax, floor] of floors) {
    it(`of ${name} is at least ${floor * 100}% within ${tokensMax} tokens`, async (context) => {
      if (!existsSync(folder)) context.skip('not run: corpus absent')
      const events = recordedEvents(readSessions(folder))
      expect(events.length).toBeGreaterThan(0)
      const { score } = await runSetting(events, setting)
      expect(score.tokens).toBeLessThanOrEqual(tokensMax)
      expect(score.strict).toBeGreaterThanOrEqual(floor)
    })
  }
})
