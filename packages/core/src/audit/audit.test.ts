import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  auditTexts,
  brokenLaws,
  lifeOf,
  logFiles,
  logText,
} from '../../../../test/support/audit/audit-logs.ts'
import { auditLogs } from './audit.ts'
import { type AuditLawName, WAIT_CONFIGURED } from './laws/laws.ts'
import { type NewAuditLine, parseLine } from './log/line.ts'

const whole = logText(lifeOf('agent-7'))
const linesOf = (text: string) => text.trimEnd().split('\n')

async function brokenBy(...texts: readonly string[]): Promise<readonly AuditLawName[]> {
  return brokenLaws(await auditTexts(texts))
}

/** The next holder of a session, in another process. */
function nextHolder(sessionId: string, entry: number, more: readonly object[] = []) {
  return [
    { kind: 'lease acquired', sessionId, entry, base: 4, fence: 2 },
    ...more.map((line) => ({ sessionId, fence: 2, ...line })),
  ] as unknown as NewAuditLine[]
}

describe('auditLogs', () => {
  it('reports no fault in a sound log, and counts its lines', async () => {
    const report = await auditTexts([whole])
    expect(brokenLaws(report)).toEqual([])
    expect(report).toMatchObject({
      holds: true,
      figures: { lines: 14, sessions: 1, compactions: 1, messages: 3, meanwhile: 2, waiting: 0 },
    })
    expect(report.laws.map(({ unproven }) => unproven)).not.toContainEqual(expect.anything())
  })

  it('reports a session id that changes between start and end [S20, S23]', async () => {
    const report = await auditTexts([
      logText(lifeOf('20260528_093510_66bfaec7', { 10: { sessionId: '20260528_161635_bb86b1' } })),
    ])
    expect(brokenLaws(report)).toEqual(['births', 'identity', 'isolation'])
    const [offence] = report.laws.find(({ law }) => law === 'identity')?.offences ?? []
    expect(offence?.problem).toContain(
      'was 20260528_093510_66bfaec7 and then 20260528_161635_bb86b1',
    )
    expect(offence?.lines.map(({ line, text }) => [line, parseLine(text ?? '').kind])).toEqual([
      [7, 'line'],
      [10, 'line'],
    ])
  })

  it('reports a process that compacts a session held by another one [S23]', async () => {
    const own = lifeOf('20260528_093510_66bfaec7')
    const foreign = lifeOf('20260528_155201_68dc5996')
    const again = [6, 9].map((index) => ({ ...foreign[index], operationId: 'op-again' }))
    const aliased = [...own.slice(0, 13), ...again, ...own.slice(13)] as NewAuditLine[]
    const report = await auditTexts([
      logText(foreign, { log: 'process-one' }),
      logText(aliased, { log: 'process-two' }),
    ])
    expect(brokenLaws(report)).toContain('isolation')
    const marks = report.laws.find(({ law }) => law === 'isolation')?.offences
    expect(marks?.map(({ lines }) => lines[0]?.line)).toEqual([14, 15])
  })

  it('reports an unanswered message that a compaction took out of the context [I34]', async () => {
    const sessionId = 'agent-7'
    const turn = { sessionId, fence: 1, operationId: 'turn-1' }
    const operation = { sessionId, fence: 1, base: 0, operationId: 'op-1' }
    const all = { from: 1, to: 20 }
    const shown = (entry: number, facts: object) => ({
      ...{ kind: 'context shown', ...turn, entry, base: entry > 22 ? 23 : 0 },
      ...facts,
    })
    const told = (...after: readonly object[]) =>
      logText([
        { kind: 'session created', sessionId, operationId: 'new', entry: 0, reason: 'created' },
        { kind: 'message admitted', sessionId, mailbox: all, reason: 'user' },
        { kind: 'lease acquired', sessionId, entry: 0, base: 0, fence: 1 },
        { kind: 'message delivered', sessionId, entry: 20, fence: 1, mailbox: all, reason: 'user' },
        { kind: 'turn started', ...turn, entry: 20 },
        shown(20, { whole: [all], clipped: [] }),
        { kind: 'compaction started', ...operation, entry: 22, trigger: 'preflight' },
        { kind: 'compaction committed', ...operation, entry: 23 },
        ...after,
        { kind: 'turn ended', ...turn, entry: 25, reason: 'answered' },
        { kind: 'lease lost', sessionId, fence: 1, reason: 'released' },
      ] as unknown as NewAuditLine[])
    expect(await brokenBy(told(shown(23, { whole: [all], clipped: [] })))).toEqual([])
    const kept = [{ from: 9, to: 20 }]
    expect(await brokenBy(told(shown(23, { whole: kept, clipped: [] })))).toEqual(['unanswered'])
    const cut = { whole: [{ from: 2, to: 20 }], clipped: [{ from: 1, to: 1 }] }
    expect(await brokenBy(told(shown(23, cut)))).toEqual(['unanswered'])
    // A line without ranges proves nothing, so it breaks no law.
    expect(await brokenBy(told(shown(23, {})))).toEqual([])
  })

  it('reports a turn that waits for a model, unless the operator configured it [I35]', async () => {
    const sessionId = 'agent-7'
    const operation = { sessionId, fence: 1, base: 0, operationId: 'op-1' }
    const started = (facts: object) =>
      logText([
        { kind: 'session created', sessionId, operationId: 'new', entry: 0, reason: 'created' },
        { kind: 'lease acquired', sessionId, entry: 0, base: 0, fence: 1 },
        { kind: 'compaction started', ...operation, entry: 22, ...facts },
        { kind: 'compaction committed', ...operation, entry: 23 },
        { kind: 'lease lost', sessionId, fence: 1, reason: 'released' },
      ] as unknown as NewAuditLine[])
    const reason = 'the next step does not fit'
    for (const trigger of ['preflight', 'reactive']) {
      expect(await brokenBy(started({ trigger, by: 'model', reason }))).toEqual(['prompt'])
      expect(await brokenBy(started({ trigger, by: 'digest', reason }))).toEqual([])
      expect(await brokenBy(started({ trigger, by: 'model', reason: WAIT_CONFIGURED }))).toEqual([])
      // Lines of earlier versions do not name the writer.
      expect(await brokenBy(started({ trigger, reason }))).toEqual([])
    }
    expect(await brokenBy(started({ trigger: 'background', by: 'model', reason }))).toEqual([])
  })

  it('reports a compaction from an outdated base', async () => {
    const life = lifeOf('agent-7')
    const rewrite = [6, 9].map((index) => ({ ...life[index], operationId: 'op-2', entry: 9 }))
    expect(await brokenBy(logText([...life.slice(0, 13), ...rewrite] as NewAuditLine[]))).toEqual([
      'bases',
    ])
    const older = nextHolder('agent-7', 8).map((line) => ({ ...line, base: 0 }))
    expect(await brokenBy(whole, logText(older, { log: 'two' }))).toEqual(['bases'])
  })

  it.each(
    linesOf(whole)
      .keys()
      .map((index) => [index + 1])
      .toArray()
      .slice(0, -1),
  )('reports that line %i was removed', async (number) => {
    const text = linesOf(whole)
      .filter((_line, index) => index !== number - 1)
      .map((line) => `${line}\n`)
      .join('')
    expect(await brokenBy(text)).toContain('whole')
  })

  it('reports lines that are swapped, changed, repeated or foreign', async () => {
    const lines = linesOf(whole)
    const swapped = lines.with(7, lines[8] ?? '').with(8, lines[7] ?? '')
    const foreign = linesOf(logText(lifeOf('agent-8'), { log: 'two' }))[0] ?? ''
    for (const text of [
      swapped.join('\n'),
      whole.replace('"soft"', '"hard"'),
      lines.toSpliced(4, 0, foreign).join('\n'),
      lines.toSpliced(4, 0, lines[3] ?? '').join('\n'),
      lines.toSpliced(4, 0, '{"kind":"compaction committed"}').join('\n'),
      lines.toSpliced(4, 0, '').join('\n'),
      lines.toSpliced(4, 0, '\u001b[2Jx'.repeat(9_000)).join('\n'),
    ]) {
      expect(await brokenBy(`${text}\n`)).toContain('whole')
    }
  })

  it('shows a hostile line without its control characters', async () => {
    const text = linesOf(whole).toSpliced(4, 0, '\u001b[2J\u202egone\u2028').join('\n')
    const report = await auditTexts([text])
    const shown = report.laws[0]?.offences[0]?.lines[0]?.text ?? ''
    expect(shown).toMatch(/^[\x20-\x7e]+$/)
  })

  const cases: readonly (readonly [string, AuditLawName, readonly NewAuditLine[]])[] = [
    ['a session without a creation', 'births', lifeOf('a').slice(1)],
    ['a session that is created twice', 'births', [...lifeOf('a').slice(0, 1), ...lifeOf('a')]],
    ['a session that was copied', 'births', lifeOf('a', { 1: { reason: 'copied' } })],
    ['a compaction that changes its fence', 'identity', lifeOf('a', { 10: { fence: 2 } })],
    ['a compaction that changes its base', 'identity', lifeOf('a', { 10: { base: 1 } })],
    ['a turn that ends as another', 'identity', lifeOf('a', { 6: { operationId: 'turn-9' } })],
    ['a compaction without an end', 'endings', lifeOf('a').toSpliced(9, 1)],
    ['a compaction without a start', 'endings', lifeOf('a').toSpliced(6, 1)],
    ['a compaction that ends twice', 'endings', lifeOf('a').toSpliced(9, 0, ended('a'))],
    ['a turn without an end', 'endings', lifeOf('a').toSpliced(5, 1)],
    ['a turn without a start', 'endings', lifeOf('a').toSpliced(11, 1)],
    ['two compactions at once', 'overlap', twoAtOnce()],
    ['a compaction in another session', 'identity', crossing()],
    ['a line after the lease was lost', 'fences', [...lifeOf('a'), ...lifeOf('a').slice(10, 13)]],
    ['a fence acquired twice', 'fences', lifeOf('a').toSpliced(3, 0, ...lifeOf('a').slice(2, 3))],
    ['entries that go back', 'entries', lifeOf('a', { 13: { entry: 5 } })],
    ['an entry given twice', 'entries', lifeOf('a', { 13: { entry: 6 } })],
    ['a message passed over', 'delivery', lifeOf('a', { 11: { mailbox: { from: 3, to: 3 } } })],
    ['a message delivered twice', 'delivery', lifeOf('a', { 11: { mailbox: { from: 1, to: 2 } } })],
    ['a message admitted twice', 'delivery', lifeOf('a', { 9: { mailbox: { from: 2, to: 2 } } })],
    [
      'a turn that leaves out a message from the compaction before it',
      'delivery',
      lifeOf('a').toSpliced(10, 1),
    ],
    ['a notification before people', 'delivery', notified()],
    [
      'a turn under a fence that was never acquired',
      'isolation',
      lifeOf('a', { 12: { fence: 3 } }),
    ],
  ]
  it.each(cases)('reports %s: %s', async (_what, law, lines) => {
    expect(await brokenBy(logText(lines))).toContain(law)
  })

  it('accepts a control item and a withdrawn message that are not delivered', async () => {
    const delivered = { 11: { mailbox: { from: 3, to: 3 }, entry: 5 } }
    const control = lifeOf('a', { ...delivered, 8: { reason: 'control' } })
    expect(await brokenBy(logText(control))).toEqual([])
    const withdrawn = { kind: 'message withdrawn', sessionId: 'a', mailbox: { from: 2, to: 2 } }
    const life = lifeOf('a', delivered).toSpliced(9, 0, withdrawn as NewAuditLine)
    expect(await brokenBy(logText(life))).toEqual([])
  })

  it('accepts an operation that is still running at the end of the logs', async () => {
    for (const length of [7, 8, 9, 10, 11, 12, 13]) {
      expect(await brokenBy(logText(lifeOf('a').slice(0, length)))).toEqual([])
    }
  })

  it('ignores times: logs in any order, with any clock, give the same verdicts', async () => {
    const ended = [
      { kind: 'turn started', operationId: 'turn-3', entry: 9 },
      { kind: 'turn ended', operationId: 'turn-3', entry: 10, reason: 'answered' },
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -4e12, max: 4e12 }),
        fc.boolean(),
        async (skew, turned) => {
          const texts = [
            logText(lifeOf('a'), { log: 'one', clock: (line) => 1e12 - line * 3_600_000 }),
            logText(nextHolder('a', 8, ended), { log: 'two', clock: () => skew }),
          ]
          expect(await brokenBy(...(turned ? texts.toReversed() : texts))).toEqual([])
        },
      ),
      { numRuns: 20 },
    )
  })

  it('lets the next holder record that a compaction of a dead process was abandoned', async () => {
    const life = lifeOf('a').slice(0, 7)
    const abandoned = { ...life[6], kind: 'compaction abandoned', reason: 'owner gone' }
    const next = nextHolder('a', 3).map((line) => ({ ...line, base: 0 }))
    const texts = [logText(life), logText([abandoned, ...next] as NewAuditLine[], { log: 'two' })]
    expect(await brokenBy(...texts)).toEqual([])
    expect(await brokenBy(...texts.toReversed())).toEqual([])
    const both = [...lifeOf('a').slice(0, 10)]
    expect(await brokenBy(logText(both), texts[1] ?? '')).toContain('endings')
  })

  it('leaves a law unproven if a process died between a commit and its line', async () => {
    // The process died after committing the compaction and delivering message 2.
    const life = lifeOf('a').slice(0, 9)
    const more = [
      { kind: 'message delivered', entry: 6, mailbox: { from: 3, to: 3 }, reason: 'user' },
    ]
    const report = await auditTexts([
      logText(life),
      logText(nextHolder('a', 5, more), { log: 'two' }),
    ])
    expect(brokenLaws(report)).toEqual([])
    const open = report.laws.filter(({ unproven }) => unproven !== null)
    expect(open.map(({ law, unproven }) => [law, unproven?.count])).toEqual([
      ['endings', 1],
      ['delivery', 1],
    ])
  })

  it('reports two holders at once, in any order of their logs', async () => {
    const one = logText(lifeOf('a'))
    const same = logText(
      nextHolder('a', 8).map((line) => ({ ...line, fence: 1 })) as NewAuditLine[],
      { log: 'two' },
    )
    expect(await brokenBy(one, same)).toContain('fences')
    const early = logText(nextHolder('a', 5), { log: 'two' })
    for (const texts of [
      [one, early],
      [early, one],
    ]) {
      expect(await brokenBy(...texts)).toEqual(['entries'])
    }
  })

  it('accepts a process that acquires a session again, but reports another holder in between', async () => {
    const again = nextHolder('a', 8, [{ kind: 'lease lost', reason: 'released' }])
    const third = nextHolder('a', 8).map((line) => ({ ...line, fence: 3 })) as NewAuditLine[]
    const mine = logText([...lifeOf('a'), ...again, ...third])
    expect(await brokenBy(mine)).toEqual([])
    const stranger = logText(nextHolder('a', 8), { log: 'two' })
    expect(await brokenBy(mine, stranger)).toContain('fences')
    expect(await brokenBy(stranger, mine)).toContain('fences')
    const older = again.map((line, index) => (index === 0 ? { ...line, entry: 5, base: 0 } : line))
    const back = logText([...lifeOf('a'), ...older] as NewAuditLine[])
    expect(await brokenBy(back)).toEqual(['bases', 'entries'])
  })

  it('reports overlapping compactions of two holders', async () => {
    const own = { operationId: 'op-2', base: 4, entry: 3, trigger: 'manual' }
    const next = nextHolder('a', 3, [{ kind: 'compaction started', ...own }])
    expect(await brokenBy(logText(lifeOf('a')), logText(next, { log: 'two' }))).toContain('overlap')
  })

  it('reads a packed log, and one whose last line is torn', async () => {
    const [path = ''] = logFiles([''])
    writeFileSync(path, gzipSync(whole))
    expect((await auditLogs({ paths: [path], witness: null })).figures.lines).toBe(14)
    const torn = await auditTexts([whole.slice(0, -30)])
    expect(torn).toMatchObject({ holds: true, figures: { lines: 13 }, logs: [{ isTorn: true }] })
    const unended = await auditTexts([whole.trimEnd()])
    expect(unended).toMatchObject({ figures: { lines: 14 }, logs: [{ isTorn: false }] })
  })

  it('refuses a file that is not a log, the same log twice, and a log of a newer version', async () => {
    const one = logText(lifeOf('a'))
    await expect(brokenBy('hello\n')).rejects.toThrow('its line 1 is no JSON object')
    await expect(brokenBy('')).rejects.toThrow('there is no audit line in it')
    await expect(brokenBy(one, one)).rejects.toThrow('it is the same log as')
    await expect(brokenBy(one.replace('"v":1', '"v":2'))).rejects.toThrow('a newer throughline')
    const gone = auditLogs({ paths: ['/nowhere/at-all.jsonl'], witness: null })
    await expect(gone).rejects.toThrow('there is no such file')
  })

  it('accepts the empty log of a process that has not written yet', async () => {
    const report = await auditTexts([logText(lifeOf('a')), ''])
    expect(report).toMatchObject({
      holds: true,
      logs: [{}, { log: null, lines: 0, isTorn: false }],
    })
  })

  it('counts every fault and lists twenty', async () => {
    const many = Array.from({ length: 500 }, (_, index) => lifeOf(`s${index}`).slice(1)).flat()
    const births = (await auditTexts([logText(many)])).laws.find(({ law }) => law === 'births')
    expect([births?.offencesCount, births?.offences.length]).toEqual([500, 20])
  })
})

function ended(sessionId: string): NewAuditLine {
  const life = lifeOf(sessionId)
  return { ...life[9], kind: 'compaction failed', entry: 3, reason: 'timeout' } as NewAuditLine
}

function twoAtOnce(): readonly NewAuditLine[] {
  const life = lifeOf('a')
  return life.toSpliced(7, 0, { ...life[6], operationId: 'op-2' } as NewAuditLine)
}

/** The same operation id in two sessions. */
function crossing(): readonly NewAuditLine[] {
  const changes = { 7: { operationId: 'op' }, 10: { operationId: 'op' } }
  return [...lifeOf('a', changes), ...lifeOf('b', changes)]
}

/** Message 2 is a notification, and the next turn takes it alone although a person waits. */
function notified(): readonly NewAuditLine[] {
  return lifeOf('a', {
    8: { reason: 'notification' },
    11: { reason: 'notification', mailbox: { from: 2, to: 2 }, entry: 5 },
  })
}
