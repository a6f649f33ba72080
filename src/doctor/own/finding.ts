/** One thing that is not as it should be in a store of ours. */
export interface OwnFinding {
  readonly kind: string
  /** `fault`: something is lost or stands still. `warning`: it may soon. `note`: good to know. */
  readonly severity: 'fault' | 'warning' | 'note'
  readonly what: string
  /** Milliseconds; null where nothing tells. */
  readonly since: number | null
  readonly advice: string
  readonly sessionIds: readonly string[]
  /** What can be repaired without asking anybody; absent: nothing. */
  readonly fix?: Fix
}

export type Fix =
  | { readonly kind: 'dismiss-runner'; readonly runner: string; readonly beat: number }
  | { readonly kind: 'fail-operation'; readonly operation: string; readonly fence: number }
  | { readonly kind: 'make-private'; readonly path: string }
  | { readonly kind: 'rebuild-index'; readonly path: string }

export interface OwnDiagnosis {
  readonly format: 'throughline-doctor'
  readonly version: 1
  readonly store: string
  readonly examinedAt: string
  readonly sessions: number
  readonly findings: readonly OwnFinding[]
  /** What was repaired, in words; empty unless asked for. */
  readonly fixed: readonly string[]
}

export function worstOf(findings: readonly OwnFinding[]): OwnFinding['severity'] | 'none' {
  for (const severity of ['fault', 'warning', 'note'] as const) {
    if (findings.some((finding) => finding.severity === severity)) return severity
  }
  return 'none'
}
