import type { Composition } from './composition.ts'
import { runSeed } from './run.ts'

/** The combined results of many seeds. */
export interface Tally {
  readonly seeds: number
  readonly events: number
  readonly violations: readonly { seed: number; law: string; message: string }[]
  readonly counters: ReadonlyMap<string, number>
}

const VIOLATIONS_KEPT = 20

/** Runs seeds one after another; `isEnough` stops early, as when a planted bug was caught. */
export async function runSeeds(
  from: number,
  count: number,
  composition?: Composition,
  isEnough: (tally: Tally) => boolean = () => false,
): Promise<Tally> {
  const counters = new Map<string, number>()
  const violations: Tally['violations'][number][] = []
  let tally: Tally = { seeds: 0, events: 0, violations, counters }
  for (let seed = from; seed < from + count && !isEnough(tally); seed++) {
    const result = await runSeed(seed, composition)
    for (const [name, value] of result.counters) {
      counters.set(name, (counters.get(name) ?? 0) + value)
    }
    const [first] = result.violations
    if (first !== undefined && violations.length < VIOLATIONS_KEPT) {
      violations.push({ seed, law: first.law, message: first.message })
    }
    tally = { ...tally, seeds: tally.seeds + 1, events: tally.events + result.events }
  }
  return tally
}

export function tallyUp(tallies: readonly Tally[]): Tally {
  const counters = new Map<string, number>()
  for (const tally of tallies) {
    for (const [name, value] of tally.counters) {
      counters.set(name, (counters.get(name) ?? 0) + value)
    }
  }
  return {
    seeds: tallies.reduce((sum, tally) => sum + tally.seeds, 0),
    events: tallies.reduce((sum, tally) => sum + tally.events, 0),
    violations: tallies.flatMap((tally) => tally.violations),
    counters,
  }
}

/**
 * Situations that a run must produce: a generator that never produces one proves nothing about it.
 */
export const MUST_HAPPEN = [
  'buffer > 100',
  'call closed as unknown',
  'claimed by clearing: background',
  'claimed by digest: preflight',
  'claimed by digest: reactive',
  'claimed by model: background',
  'claimed by model: idle',
  'claimed by model: manual',
  'claimed by model: preflight',
  'claimed by model: reactive',
  'claimed by rewrite: background',
  'clock jump',
  'closed in order',
  'committed while the tail had grown',
  'compaction abandoned',
  'compaction committed',
  'compaction committed with open calls',
  'compaction failed',
  'compaction superseded',
  'copy imported',
  'crash in recovery',
  'crash with a compaction in flight',
  'crash with open calls',
  'dead runner dismissed at once',
  'deleted under a living fork',
  'deleted whole',
  'deleted with a compaction in flight',
  'deleted with its forks',
  'deletion with forks: forked',
  'digest rung',
  'erased by eraseEntries',
  'erased by eraseRetained',
  'erased by eraseSome',
  'erased elsewhere during a compaction',
  'erased entry kept out of an import',
  'erased in another session',
  'erased under a handoff',
  'erasure by mail admitted',
  'erasure of another session named',
  'file admitted',
  'file blob-missing',
  'file erased with its last use',
  'file used twice',
  'fork forked',
  'fork of a fork',
  'fork of a running turn',
  'fork under an emptied handoff',
  'fork with open calls',
  'handoff aborted: closing',
  'handoff aborted: deadline',
  'handoff aborted: lost',
  'handoff aborted: superseded',
  'handoff written for an erasure',
  'import exists',
  'import imported',
  'import refused',
  'interrupt at commit',
  'joined compaction',
  'long input shortened',
  'long input shown whole',
  'machine suspended',
  'mail during compaction',
  'manual compaction',
  'pause',
  'paused with an answer in the air',
  'poison turn',
  'record duplicate',
  'record in-use',
  'recorded a record',
  'recorded a turn',
  'recorded beside a running turn',
  'repeated delivery',
  'reply put off by a jumped clock',
  'reply sent twice',
  'revert',
  'revert with a compaction in flight',
  'rewrite committed',
  'runner dismissed',
  'settings refused',
  'staged file swept',
  'start afresh started',
  'step begun beside an erasure elsewhere',
  'step interrupted',
  'superseded commitCompaction',
  'superseded commitReply',
  'superseded commitResults',
  'superseded deliver',
  'superseded eraseEntries',
  'system text',
  'take-over mid-call',
  'take-over mid-compaction',
  'take-over mid-turn',
  'told that more is waiting',
  'tool repeated',
  'unanswered input beside a handoff',
  'unknown outcome',
  'unseen input begins the next turn',
  'withdraw withdrawn',
] as const

/** The fault number of each counter, if it has one; for the table of faults and their tests. */
export const FAULTS_OF_COUNTER: Partial<Record<(typeof MUST_HAPPEN)[number], readonly number[]>> = {
  'clock jump': [75, 80],
  'crash in recovery': [15],
  'crash with a compaction in flight': [6],
  'deleted with a compaction in flight': [28],
  'handoff aborted: lost': [23],
  'interrupt at commit': [37],
  'joined compaction': [27],
  'machine suspended': [76],
  pause: [20],
  'repeated delivery': [30],
  'superseded commitCompaction': [19],
  'take-over mid-compaction': [19],
  'unknown outcome': [33],
}

export function missingCounters(tally: Tally): readonly string[] {
  return MUST_HAPPEN.filter((name) => (tally.counters.get(name) ?? 0) === 0)
}
