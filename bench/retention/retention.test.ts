import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { toolCall, toolResult } from '../../test/support/builders.ts'
import { CORPUS_ABSENT, corpusDir } from '../../test/support/corpus.ts'
import { atomsOf, demandOf, isKept } from './atoms.ts'
import { FIGURES } from './figures.ts'
import { type Event, readSessions, recordedEvents } from './sessions.ts'
import {
  DEFAULTS,
  DIGEST_AND_LEDGER,
  runCommand,
  runSetting,
  runSuccessive,
  SUMMARY_AND_LEDGER,
  TAIL_AND_LEDGER,
} from './settings.ts'

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
  let events: readonly Event[] = []
  beforeAll(() => {
    const folder = corpusDir()
    if (folder !== undefined) events = recordedEvents(readSessions(folder))
  })
  beforeEach((context) => {
    if (corpusDir() === undefined) context.skip(CORPUS_ABSENT)
    expect(events.length).toBeGreaterThan(0)
  })

  it('falls by no more than a point: the command that users type [S28]', async () => {
    const { score } = await runCommand(events, 5_000)
    expect(score.tokens).toBeLessThanOrEqual(5_000)
    expect(score.strict * 100).toBeGreaterThanOrEqual(FIGURES['the command'] - 1)
  })

  it.each([
    ['summary + ledger', SUMMARY_AND_LEDGER, 5_000],
    ['digest + ledger', DIGEST_AND_LEDGER, 5_000],
    ['tail + ledger + digest', TAIL_AND_LEDGER, 15_000],
    ['defaults', DEFAULTS, 30_000],
  ] as const)('falls by no more than a point: %s [S28]', async (name, setting, tokensMax) => {
    const { score } = await runSetting(events, setting)
    expect(score.tokens).toBeLessThanOrEqual(tokensMax)
    expect(score.strict * 100).toBeGreaterThanOrEqual(FIGURES[name] - 1)
  })

  it('falls by no more than five points over ten compactions, each within its budget', async () => {
    const once = await runSuccessive(events, 1)
    const { score, handoffTokens } = await runSuccessive(events, 10)
    expect(score.strict).toBeGreaterThanOrEqual(once.score.strict - 0.05)
    expect(score.strict * 100).toBeGreaterThanOrEqual(FIGURES['digest + ledger, ten times'] - 1)
    expect(Math.max(...handoffTokens)).toBeLessThanOrEqual(5_000)
  })
})
