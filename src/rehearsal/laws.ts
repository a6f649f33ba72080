/**
 * The laws that a rehearsal judges beside those of the audit: what its own record of messages, the
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
  untorn: 'No message and no stop breaks a compaction off',
  settled: 'Everything comes to rest',
  sound: 'No agent fails by itself',
  loop: 'Our own work never holds the event loop for longer than 50 ms',
} as const

export type LawName = keyof typeof LAWS
export const LAW_NAMES = Object.keys(LAWS) as readonly LawName[]
export const LOOP_MS_MAX = 50
/** Where a thread without work is late by so much, nothing can be said about those with work. */
export const OVERLOAD_MS = 50

export interface Verdict {
  readonly law: LawName
  readonly title: string
  readonly holds: boolean
  /** What speaks against it and cannot be proven on this machine; null: nothing. */
  readonly unproven: string | null
  readonly offencesCount: number
  /** The first ones. */
  readonly offences: readonly string[]
}

const OFFENCES_KEPT_MAX = 20

export class Findings {
  readonly #offences = new Map<LawName, string[]>()
  readonly #unproven = new Map<LawName, string>()

  open(law: LawName, doubt: string): void {
    this.#unproven.set(law, doubt)
  }

  broken(law: LawName, offence: string): void {
    const known = this.#offences.get(law)
    if (known === undefined) this.#offences.set(law, [offence])
    else known.push(offence)
  }

  verdicts(): readonly Verdict[] {
    return LAW_NAMES.map((law) => {
      const offences = this.#offences.get(law) ?? []
      return {
        ...{ law, title: LAWS[law], holds: offences.length === 0 },
        unproven: this.#unproven.get(law) ?? null,
        ...{ offencesCount: offences.length, offences: offences.slice(0, OFFENCES_KEPT_MAX) },
      }
    })
  }
}
