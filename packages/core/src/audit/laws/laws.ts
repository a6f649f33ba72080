/**
 * The laws that an audit checks, by name, and the findings against them. Titles and advice are for
 * people; names and contract numbers are for scripts and tests.
 */
export const AUDIT_LAWS = {
  whole: {
    title: 'Every log is whole',
    contract: ['I19', 'I20'],
    advice:
      'A log was edited, cut, or written by another program. Compare it with a backup, and use --store.',
  },
  births: {
    title: 'Sessions are created once: by create, start afresh, import or fork',
    contract: ['I5', 'I30'],
    advice:
      'Give the logs of all processes, older ones too, or --store. If all were given, an id was made up.',
  },
  identity: {
    title: 'An operation keeps its session, fence and base from its start to its end',
    contract: ['I5', 'I20'],
    advice:
      'An id changed during an operation. Stop the process that wrote these lines and report it.',
  },
  endings: {
    title: 'Every started operation ends once',
    contract: ['I20'],
    advice: 'An operation ended twice, never, or without a start. Check it with --store.',
  },
  overlap: {
    title: 'Compactions of one session never overlap',
    contract: ['I6'],
    advice: 'Two compactions of a session ran at once. Stop one of the processes and report it.',
  },
  isolation: {
    title: 'Only the holder of a session writes about it',
    contract: ['I21'],
    advice: 'A process worked on a session that it never acquired. Stop it and report it.',
  },
  bases: {
    title: 'A compaction starts from the newest base',
    contract: ['I7', 'I9'],
    advice:
      'The result of an earlier compaction was overwritten. Compare the transcript with a backup.',
  },
  delivery: {
    title: 'Acknowledged messages reach the next turn, in order, once',
    contract: ['I2', 'I3', 'I10'],
    advice: 'These messages were acknowledged and passed over. Send them again, and report it.',
  },
  unanswered: {
    title: 'A message stays whole in every context until a turn that had it has ended',
    contract: ['I34'],
    advice:
      'A compaction removed an unanswered message from the context, or shortened it. Send it again, and report it.',
  },
  prompt: {
    title: 'A turn waits for a model’s summary only where the operator configured it',
    contract: ['I35'],
    advice: 'A turn waited for a model before its step, not for our own work. Report it.',
  },
  fences: {
    title: 'Fences only rise, and each has one holder',
    contract: ['I7', 'I8'],
    advice: 'Two processes held a session at once, or one wrote after it had lost it. Report it.',
  },
  entries: {
    title: 'Entry numbers only rise, and none occurs twice',
    contract: ['I2', 'I19'],
    advice:
      'Two writers appended to one transcript, or a store was restored meanwhile. Use --store.',
  },
  'store-operations': {
    title: 'Logs and store agree on the operations',
    contract: ['I20'],
    advice: 'A log is missing or cut, or a line was forged. Give the logs of all processes.',
  },
  'store-sessions': {
    title: 'Logs and store agree on the sessions',
    contract: ['I5', 'I30'],
    advice: 'The logs belong to another store, or a session was created without it.',
  },
  'store-messages': {
    title: 'Every acknowledged message is in the store, and continues from there',
    contract: ['I1', 'I3', 'I10'],
    advice: 'The store is older than the logs, or has lost messages. Look for a newer backup.',
  },
  'store-transcript': {
    title: 'The transcript is gap-free and its chain holds',
    contract: ['I2', 'I19'],
    advice: 'Entries are damaged or missing at the named place. Do not write to this store.',
  },
} as const

/** The reason of a compaction that a turn waits for even though a model writes it. */
export const WAIT_CONFIGURED = 'the next step does not fit; waiting for a model is configured'

export type AuditLawName = keyof typeof AUDIT_LAWS
export const LOG_LAWS = Object.keys(AUDIT_LAWS).filter(
  (name) => !name.startsWith('store-'),
) as AuditLawName[]
export const STORE_LAWS = Object.keys(AUDIT_LAWS).filter((name) =>
  name.startsWith('store-'),
) as AuditLawName[]

/** The position of a line: the log and the line number. */
export interface Mark {
  readonly file: number
  readonly line: number
}

export interface Offence {
  readonly law: AuditLawName
  readonly problem: string
  readonly sessionId: string | null
  readonly marks: readonly Mark[]
  /** The line that admitted this message is to be shown as well. */
  readonly mail?: number
}

/** Lists are cut at this length; counts are complete. */
export const OFFENCES_KEPT_MAX = 20

/** The findings, bounded, so that a log with a million faults does not exhaust memory. */
export class AuditFindings {
  readonly #offences = new Map<AuditLawName, { count: number; kept: Offence[] }>()
  /** Gaps that only the store can explain: a process died between a commit and its line. */
  readonly unproven = new Map<AuditLawName, { count: number; first: string }>()

  broken(offence: Offence): void {
    const found = this.#offences.get(offence.law) ?? { count: 0, kept: [] }
    this.#offences.set(offence.law, found)
    found.count += 1
    if (found.kept.length < OFFENCES_KEPT_MAX) found.kept.push(offence)
  }

  open(law: AuditLawName, what: string): void {
    const found = this.unproven.get(law)
    if (found === undefined) this.unproven.set(law, { count: 1, first: what })
    else found.count += 1
  }

  count(law: AuditLawName): number {
    return this.#offences.get(law)?.count ?? 0
  }

  kept(law: AuditLawName): readonly Offence[] {
    return this.#offences.get(law)?.kept ?? []
  }
}

export interface AuditVerdict {
  readonly law: AuditLawName
  readonly holds: boolean
  readonly offences: readonly Offence[]
  readonly offencesCount: number
  readonly unproven: { readonly count: number; readonly first: string } | null
}

export function verdictsOf(
  findings: AuditFindings,
  laws: readonly AuditLawName[],
): readonly AuditVerdict[] {
  return laws.map((law) => ({
    law,
    holds: findings.count(law) === 0,
    offences: findings.kept(law),
    offencesCount: findings.count(law),
    unproven: findings.unproven.get(law) ?? null,
  }))
}
