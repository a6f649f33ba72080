import { describe, expect, it, vi } from 'vitest'
import { compactionRewritesTranscript } from '../../../../test/mutants/compaction/compaction-rewrites-transcript.ts'
import { coversUnseenInput } from '../../../../test/mutants/compaction/covers-unseen-input.ts'
import { newIdOnCompaction } from '../../../../test/mutants/compaction/new-id-on-compaction.ts'
import { turnWaitsForModel } from '../../../../test/mutants/compaction/turn-waits-for-model.ts'
import { unansweredRequestsCompacted } from '../../../../test/mutants/compaction/unanswered-requests-compacted.ts'
import { bufferTruncated } from '../../../../test/mutants/mailbox/buffer-truncated.ts'
import { operationNotAbandoned } from '../../../../test/mutants/ownership/operation-not-abandoned.ts'
import { sameFenceOnAcquire } from '../../../../test/mutants/ownership/same-fence-on-acquire.ts'
import { auditInSecondTransaction } from '../../../../test/mutants/replies-and-records/audit-in-second-transaction.ts'
import { COMPOSITION } from '../../../../test/simulation/composition.ts'
import { World } from '../../../../test/simulation/world.ts'
import { auditedStore } from '../../../../test/support/audit/audited.ts'
import { auditSeed } from '../../../../test/support/audit/simulated-audit.ts'
import { tries } from '../../../../test/support/seeded-random.ts'
import { mailNumber } from '../base/ids.ts'
import { register, StoreFixture } from '../store/contract-suite/bench.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { AUDIT_LAWS, type AuditLawName } from './laws/laws.ts'
import type { Prover } from './laws/prover.ts'
import type { NewAuditLine } from './log/line.ts'

const SEEDS = tries(60)
const brokenIn = ({ findings }: Prover) =>
  (Object.keys(AUDIT_LAWS) as AuditLawName[]).filter((law) => findings.count(law) > 0)

/** A fixture over a store that writes audit lines; `look` acts as an actor between commits. */
async function openDesk() {
  const lines: NewAuditLine[] = []
  const store = auditedStore(openMemoryStore(), { write: (line) => lines.push(line) })
  const fixture = await StoreFixture.open(store)
  const look = async () => {
    await store.findSession(fixture.id)
    const { id: sessionId } = fixture
    for (const lane of ['user', 'notification'] as const) {
      await store.listMail({ sessionId, lane, state: 'pending', limit: 100 })
    }
  }
  const told = () =>
    lines.map(({ kind, entry, operationId, mailbox, reason }) =>
      [kind, entry, operationId?.startsWith('turn') ? operationId : null, mailbox, reason].filter(
        (fact) => fact !== null && fact !== undefined,
      ),
    )
  return { fixture, store, lines, look, told }
}

describe('SessionTrail', () => {
  it('writes the acts of a session in order, with ids from one value [S20, D1]', async () => {
    const { fixture, lines, look, told } = await openDesk()
    await look()
    await fixture.admit('one')
    await fixture.admit('two', { lane: 'notification' })
    await look()
    await fixture.deliver(mailNumber(1), mailNumber(2))
    await look()
    await fixture.reply('said', { ends: 'answered' })
    await look()
    const operation = await fixture.claim(2)
    await look()
    await fixture.admit('meanwhile')
    const entry = await fixture.commit(operation)
    await look()
    await fixture.revert(entry)
    await look()
    expect(told()).toEqual([
      ['session created', 0, 'created'],
      ['lease acquired', 0],
      ['message admitted', { from: 1, to: 1 }, 'user'],
      ['message admitted', { from: 2, to: 2 }, 'notification'],
      ['message delivered', 1, { from: 1, to: 1 }, 'user'],
      ['message delivered', 2, { from: 2, to: 2 }, 'notification'],
      ['turn started', 2, 'turn-1'],
      ['turn ended', 4, 'turn-1', 'answered'],
      ['compaction started', 4, 'soft threshold'],
      ['message admitted', { from: 3, to: 3 }, 'user'],
      ['compaction committed', 5, { from: 3, to: 3 }],
      ['compaction reverted', 6],
    ])
    const [started, committed] = lines.filter(({ kind }) => /^compaction [sc]/.test(kind))
    const identity = { operationId: operation, sessionId: fixture.id, fence: 1, base: 0 }
    expect(started).toMatchObject(identity)
    expect(committed).toMatchObject(identity)
  })

  it('writes the end of the previous holder before lines of the new one', async () => {
    const { fixture, store, look, lines } = await openDesk()
    await look()
    await fixture.exchange('one', 'said')
    await look()
    const operation = await fixture.claim(1)
    await look()
    const { beat, id } = (await store.listRunners())[0] ?? expect.fail('no runner')
    await store.dismissRunner({ runner: id, beat })
    await StoreFixture.acquire(store, fixture.id, await register(store))
    await look()
    expect(lines.slice(-3)).toMatchObject([
      { kind: 'lease lost', fence: 1, reason: 'lost' },
      { kind: 'compaction abandoned', operationId: operation, fence: 1, base: 0 },
      { kind: 'lease acquired', fence: 2 },
    ])
  })

  it('writes logs that break no law, over crashes, take-overs and lost answers [fault 11]', async () => {
    const figures = { lines: 0, compactions: 0, meanwhile: 0 }
    for (let seed = 1; seed <= SEEDS; seed++) {
      const prover = await auditSeed(seed, COMPOSITION)
      expect({ seed, broken: brokenIn(prover) }).toEqual({ seed, broken: [] })
      figures.lines += prover.figures.lines
      figures.compactions += prover.figures.compactions
      figures.meanwhile += prover.figures.meanwhile
    }
    expect(figures.lines).toBeGreaterThan(SEEDS * 50)
    expect(figures.compactions).toBeGreaterThan(SEEDS)
    expect(figures.meanwhile).toBeGreaterThan(0)
  })

  it.each([
    [newIdOnCompaction, 'store-sessions'],
    [compactionRewritesTranscript, 'store-transcript'],
    [bufferTruncated, 'delivery'],
    [sameFenceOnAcquire, 'fences'],
    [coversUnseenInput, 'store-messages'],
    [auditInSecondTransaction, 'store-operations'],
    [operationNotAbandoned, 'store-operations'],
    [unansweredRequestsCompacted, 'unanswered'],
    [turnWaitsForModel, 'prompt'],
  ] as const)('writes logs that reveal $name: %s', async (mutant, law) => {
    // The simulation's own laws would stop the run at once; this test is about the logs alone.
    const silence = vi.spyOn(World.prototype, 'violate').mockImplementation(() => {})
    try {
      const planted = mutant.plant(COMPOSITION)
      const seen = new Set<AuditLawName>()
      for (let seed = 1; seed <= 40 && !seen.has(law); seed++) {
        for (const found of brokenIn(await auditSeed(seed, planted))) seen.add(found)
      }
      expect([...seen]).toContain(law)
    } finally {
      silence.mockRestore()
    }
  })
})
