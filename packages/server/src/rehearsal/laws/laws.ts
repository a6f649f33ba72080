/**
 * The laws that a rehearsal checks beside those of the audit: what its own record of messages, the
 * wire and the agents' answers must agree on.
 */
export const LAWS = {
  kept: 'Every acknowledged message is in its session once, in order, and nothing else is',
  answered: 'Every acknowledged message was taken by a turn that ended with a reply or was stopped',
  shown: 'Every message was put before its own model word for word, and before no other',
  fits: 'No request is larger than the window',
  effects: 'No effect happens twice',
  remembered: 'What was told while compacting is known afterwards: no false "no record"',
  open: 'What is open is known afterwards: no false "idle"',
  compacted: 'Every agent crosses its threshold and is written to meanwhile',
  untorn: 'No message and no stop breaks a compaction off, and no owner that lives abandons one',
  written: 'Only the holder writes, each thing once, and calls keep their results',
  founded: 'A compaction covers what a model has had, on the newest base, and makes it smaller',
  prompt: 'A turn waits for our own work at most, never for a summary of a model',
  paid: 'No step that was paid for is thrown away, and nobody is asked without end',
  bounded: 'No more unanswered input enters than there is room for, people before watchers',
  stopped: 'A stop ends the turn that it was meant for, and no other',
  mailed: 'What is withdrawn is not delivered, and what comes twice is taken once',
  pinned: 'A pin stands in every context byte for byte, and none is taken that does not fit',
  held: 'No session is taken from a process that lives, and nothing begins after a lease',
  spared: 'A turn that keeps ending its process is given up, once, and the session goes on',
  sent: 'Every reply leaves in order, and twice only after a crash',
  forgotten: 'What is erased is nowhere, and nothing else is gone',
  carried: 'What is exported is imported once, as it was',
  played: 'Every scene of the stage is played to its end',
  settled: 'Everything comes to rest',
  sound: 'No agent fails by itself',
  loop: 'Our own work never holds the event loop for longer than 30 ms',
} as const

export type LawName = keyof typeof LAWS
export const LAW_NAMES = Object.keys(LAWS) as readonly LawName[]
export const LOOP_MS_MAX = 30
/** A busy machine alone can break these; if only these are broken, nothing is proven. */
export const VAGUE_LAWS: readonly string[] = ['played', 'loop'] satisfies readonly LawName[]
/** If an idle thread is this late, delays of busy threads prove nothing. */
export const OVERLOAD_MS = 50

/** A busy machine may not get to these in time: then they count as not played, not as broken. */
const TIMED_LAWS: readonly LawName[] = ['played', 'compacted']

export type VerdictKind = 'holds' | 'broken' | 'not-played'

export interface Verdict {
  readonly law: LawName
  readonly title: string
  readonly verdict: VerdictKind
  readonly holds: boolean
  /** Evidence against it that cannot be proven on this machine; null: none. */
  readonly unproven: string | null
  readonly offencesCount: number
  /** The first ones. */
  readonly offences: readonly string[]
}

/** The verdict over all laws: a broken one outweighs any that was not played. */
export function verdictOf(laws: readonly { readonly verdict: VerdictKind }[]): VerdictKind {
  const kinds = laws.map(({ verdict }) => verdict)
  if (kinds.includes('broken')) return 'broken'
  return kinds.includes('not-played') ? 'not-played' : 'holds'
}

const OFFENCES_KEPT_MAX = 20

export class Findings {
  readonly #offences = new Map<LawName, string[]>()
  readonly #unproven = new Map<LawName, string>()

  /** Whether a broken law shows more than that the machine is busy. */
  get arePlain(): boolean {
    return [...this.#offences.keys()].some((law) => !VAGUE_LAWS.includes(law))
  }

  open(law: LawName, doubt: string): void {
    this.#unproven.set(law, doubt)
  }

  broken(law: LawName, offence: string): void {
    const known = this.#offences.get(law)
    if (known === undefined) this.#offences.set(law, [offence])
    else known.push(offence)
  }

  verdicts({ isOverloaded = false } = {}): readonly Verdict[] {
    return LAW_NAMES.map((law) => {
      const offences = this.#offences.get(law) ?? []
      const against = isOverloaded && TIMED_LAWS.includes(law) ? 'not-played' : 'broken'
      const verdict: VerdictKind = offences.length === 0 ? 'holds' : against
      return {
        ...{ law, title: LAWS[law], verdict, holds: verdict === 'holds' },
        unproven: this.#unproven.get(law) ?? null,
        ...{ offencesCount: offences.length, offences: offences.slice(0, OFFENCES_KEPT_MAX) },
      }
    })
  }
}
