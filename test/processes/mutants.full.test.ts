import { describe, expect, it } from 'vitest'
import { CALM_LEASE, leaseFor, PACES } from './agent-options.ts'
import { findingsOf, judge } from './checker.ts'
import type { Paces } from './far-ends.ts'
import { Host, until } from './host.ts'
import { readAcks } from './sending-client.ts'

/**
 * A checker that has never failed proves nothing. Runs planted bugs of the shared list in real
 * processes on SQLite, with the fault that triggers each; the verdict must name it.
 */
const CASES: readonly {
  readonly mutant: string
  readonly failpoint?: string
  readonly finding: RegExp
  readonly stepMs?: number
}[] = [
  { mutant: 'acknowledged-when-sent', failpoint: 'admit.inside:5:kill', finding: /^lost: p0-4/ },
  { mutant: 'every-tool-repeated', failpoint: 'effect.after:1:kill', finding: /effect .* 2 times/ },
  { mutant: 'one-commit-per-step', failpoint: 'effect.after:1:kill', finding: /the effect/ },
  { mutant: 'outbox-without-claim', failpoint: 'send.after:2:kill', finding: /was sent again/ },
  // SQLite enforces this a second time: the key is unique in its table.
  { mutant: 'duplicates-not-recognized', failpoint: 'admit.after:5:kill', finding: /UNIQUE/ },
  {
    mutant: 'no-fence-at-reply',
    failpoint: 'commitReply.before:2:stop',
    stepMs: 3_000,
    finding: /two writers/,
  },
  { mutant: 'operation-not-abandoned', failpoint: 'handoff:1:kill', finding: /outlived/ },
  { mutant: 'reply-lost', finding: /has no reply/ },
  { mutant: 'buffer-truncated', stepMs: 300, finding: /^lost/ },
  { mutant: 'new-id-on-compaction', finding: /^id changed: sessions/ },
  { mutant: 'compaction-under-other-context', finding: /^id changed: the handoff/ },
]

const MESSAGES = 45

// A planted bug needs its moment (a running compaction, a reply in flight), which a run may miss.
const RUNS_MAX = 4

describe.concurrent('the outside checker', { timeout: 900_000 }, () => {
  it.for(CASES)('catches $mutant', async (planted) => {
    const findings: string[] = []
    for (let run = 0; run < RUNS_MAX && !findings.some((text) => planted.finding.test(text)); run++)
      findings.push(...(await findingsWith(planted)))
    expect(
      findings.find((text) => planted.finding.test(text)),
      findings.join('\n'),
    ).toBeDefined()
  })
})

async function findingsWith(planted: (typeof CASES)[number]): Promise<readonly string[]> {
  const { mutant, failpoint, stepMs = PACES.stepMs } = planted
  const isStopped = failpoint?.endsWith('stop') ?? false
  const sessions = isStopped ? ['main-0'] : ['main-0', 'main-1', 'main-2']
  const host = await Host.make(sessions)
  try {
    const start = (name: string, fault: string | undefined, pace: Paces) =>
      host.start(
        {
          name,
          agents: ['main'],
          // Only the lease of a stopped process has to expire.
          lease: isStopped && name === 'p0' ? leaseFor(4) : CALM_LEASE,
          paces: pace,
          sends: { sessions, paceMs: 4, count: MESSAGES },
        },
        { mutant, ...(fault !== undefined && { failpoint: fault }) },
      )
    const paces = { ...PACES, stepMs }
    const first = start('p0', failpoint, failpoint === undefined ? paces : PACES)
    if (failpoint !== undefined) {
      await until('the fault happened', () => !first.isAlive || first.stdout.includes('stopping'))
    }
    if (isStopped) await host.untilStopped(first)
    const views = host.lines('views').length
    const name = isStopped ? 'p1' : 'p0'
    const last = failpoint === undefined ? first : start(name, undefined, paces)
    if (isStopped) {
      await until('the other runs a step', () => host.lines('views').length > views)
      await host.callBack(first)
    }
    const isSent = () => readAcks(host.folder, name).length >= MESSAGES || !last.isAlive
    await until('all is sent', isSent)
    host.askForQuiet()
    return findingsOf(await judge(host, 15_000))
  } finally {
    await host.remove()
  }
}
