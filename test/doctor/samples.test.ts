import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, type TestContext } from 'vitest'
import { diagnoseHermes } from '../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { isFault } from '../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import { TAG_DRIFT_LOG, unpackSample } from './homes/sample-stores.ts'

/** What the sample stores hold, and the logs beside the project where they are: no more and no less. */
const folder = mkdtempSync(join(tmpdir(), 'throughline-samples-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const corpus =
  process.env['THROUGHLINE_CORPUS'] ?? join(import.meta.dirname, '../../../shared/corpus')
const place = (...names: readonly string[]) => join(corpus, '..', ...names)

function need(context: TestContext, path: string): void {
  if (!existsSync(path)) {
    console.log('not run: samples absent')
    context.skip('not run: samples absent')
  }
}

async function faultsOf(path: string | null, logs: readonly string[] = []) {
  const { profiles } = await diagnoseHermes(path, { logs })
  const findings = profiles.flatMap((profile) => profile.findings).filter(isFault)
  return findings.map(({ kind, certainty, sessionIds }) =>
    [kind, certainty, ...sessionIds].join(' '),
  )
}

describe('the sample stores', () => {
  it('of schema 26 holds an orphan, a late row, a shell and a rewrite', async () => {
    const path = unpackSample(26, folder)
    const { profiles } = await diagnoseHermes(path)
    const findings = profiles.flatMap((profile) => profile.findings).filter(isFault)
    expect(findings.map(({ kind, sessionIds }) => [kind, sessionIds[0]])).toEqual([
      ['orphaned-parent', '20260520_120000_0rphan01'],
      ['rows-after-closing', '20260528_100000_aaaaaaaa'],
      ['empty-shell', '20260528_100000_aaaaaaaa'],
      ['destructive-rewrite', '20260528_155201_68dc5996'],
    ])
    expect(findings.every(({ certainty }) => certainty === 'certain')).toBe(true)
    expect(findings[1]?.rows.map(({ id }) => id)).toEqual([184])
    const [parent, shell] = findings[2]?.sessionIds ?? []
    expect(findings[2]?.facts).toEqual({ parent, shell })
    expect(findings[3]?.facts).toMatchObject({ rowsGone: 40, rowsWritten: 13 })
  })

  it('of schema 11 holds a late row and a rewrite of 194 rows', async () => {
    const path = unpackSample(11, folder)
    const { profiles } = await diagnoseHermes(path)
    const findings = profiles.flatMap((profile) => profile.findings).filter(isFault)
    expect(findings.map(({ kind, sessionIds }) => [kind, ...sessionIds])).toEqual([
      ['rows-after-closing', '20260528_093510_66bfaec7', '20260528_161635_bb86b1'],
      ['destructive-rewrite', '20260528_155201_68dc5996'],
    ])
    expect(findings[1]?.facts).toMatchObject({ rowsGone: 194, isUpperBound: true })
  })
})

const INTERRUPTED = '20260511_205207_8a7dc8 20260511_211843_103fc8'
const ISSUE_A = 'identity-changed certain 20260528_093510_66bfaec7 20260528_161635_bb86b1'
const ISSUE_B = 'foreign-tag certain 20260528_155201_68dc5996 20260528_093510_66bfaec7'

describe('the sample logs', () => {
  it('of the seed issues hold one A, one B, and a torn summary that is an A of its own', async (context) => {
    const path = place('hermes', 'agent-seed-issues.log')
    need(context, path)
    expect((await faultsOf(null, [path])).sort()).toEqual([
      ISSUE_B,
      `identity-changed certain ${INTERRUPTED}`,
      ISSUE_A,
      `torn-summary certain ${INTERRUPTED}`,
    ])
  })

  it('of the session-id issue yield one A and one B, also from the whole text of the issue', async (context) => {
    const path = place('seeds', 'issue-session-id-desync.txt')
    need(context, path)
    expect((await faultsOf(null, [path])).sort()).toEqual([ISSUE_B, ISSUE_A])
  })

  it('of the interrupted summary yield the same from the whole text of the issue', async (context) => {
    const path = place('seeds', 'issue-compression-interrupted.txt')
    need(context, path)
    expect((await faultsOf(null, [path])).sort()).toEqual([
      `identity-changed certain ${INTERRUPTED}`,
      `torn-summary certain ${INTERRUPTED}`,
    ])
  })

  it('of the poisoned client are recognized', async (context) => {
    const path = place('seeds', 'issue-poisoned-auxiliary-client.txt')
    need(context, path)
    const faults = await faultsOf(null, [path])
    expect(faults.filter((fault) => fault.startsWith('poisoned-client'))).toHaveLength(1)
    const ids = '20260510_171239_804511 20260510_213719_f58dae'
    expect(faults).toContain(`identity-changed certain ${ids}`)
    expect(faults).toContain(`torn-summary certain ${ids}`)
    expect(faults).toHaveLength(3)
  })

  it('of the drifting tag hold one change of identity and four foreign tags', async () => {
    const kinds = (await faultsOf(null, [TAG_DRIFT_LOG])).map((fault) => fault.split(' ')[0])
    expect(kinds).toEqual(['identity-changed', ...Array(4).fill('foreign-tag')])
  })

  it('say nothing of rows that the store still holds', async () => {
    const path = unpackSample(26, folder)
    const log = join(folder, 'agent.log')
    const id = '20260602_090000_abc123'
    const line = (time: string, what: string) =>
      `2026-06-02 ${time} INFO [20260601_101010_1a2b3c4d] run_agent: context compression ${what}`
    const lines = [
      line('09:30:00,000', `started: session=${id} messages=12 tokens=~9,000 model=m focus=None`),
      line('09:30:20,000', `done: session=${id} messages=12->5 tokens=~900`),
    ]
    writeFileSync(log, lines.join('\n'))
    const { profiles } = await diagnoseHermes(path, { logs: [log] })
    const tags = profiles[0]?.findings.filter(({ kind }) => kind === 'foreign-tag')
    expect(tags).toHaveLength(1)
    expect(tags?.[0]).toMatchObject({ severity: 'risk', facts: { rewriteLikely: false } })
    expect(tags?.[0]?.explanation).not.toContain('tool rows')
  })

  it('cause no findings in a store that has the same sessions', async (context) => {
    const store = unpackSample(11, folder)
    const log = place('hermes', 'agent-seed-issues.log')
    need(context, log)
    expect(await faultsOf(store, [log])).toHaveLength(2 + 4)
  })
})
