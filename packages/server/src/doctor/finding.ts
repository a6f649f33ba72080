import { KnownError } from '#core/base/errors'
import type { SessionId } from '#core/base/ids'

/** One fault, warning or note about one of our stores. */
export interface OwnFinding {
  readonly kind: string
  /** `fault`: something is lost or stuck. `warning`: it may be soon. `note`: for information. */
  readonly severity: 'fault' | 'warning' | 'note'
  readonly what: string
  /** Milliseconds; null: unknown. */
  readonly since: number | null
  readonly advice: string
  readonly sessionIds: readonly string[]
  /** The repair that needs no decision; absent: there is none. */
  readonly fix?: Fix
}

export type Fix =
  | { readonly kind: 'dismiss-runner'; readonly runner: string; readonly beat: number }
  | { readonly kind: 'fail-operation'; readonly operation: string; readonly fence: number }
  | { readonly kind: 'finish-erasure'; readonly sessionId: SessionId }
  | { readonly kind: 'make-private'; readonly path: string }
  | { readonly kind: 'rebuild-index'; readonly path: string }

export interface OwnDiagnosis {
  readonly format: 'throughline-doctor'
  readonly version: 1
  readonly store: string
  readonly examinedAt: string
  readonly sessions: number
  readonly findings: readonly OwnFinding[]
  /** The repairs that were made; empty unless requested. */
  readonly fixed: readonly string[]
}

const ADVICE_ELSE = 'Restore a backup; what can still be read, `throughline export` saves.'
const ADVICE: { readonly [code: string]: string } = {
  'store-busy': 'Examine it again; if this persists, check which other processes use it.',
  'store-refused': 'Nothing of it was changed. If it was a sound store before, restore a backup.',
}

/** An error while reading is a finding too; it must not end the examination. */
export function unreadable(error: unknown, sessionIds: readonly string[] = []): OwnFinding {
  const isKnown = error instanceof KnownError
  const problem = error instanceof Error ? error.message : String(error)
  const about = sessionIds.length === 0 ? 'The store' : `Session ${sessionIds.join(', ')}`
  return {
    kind: isKnown ? error.code : 'unreadable',
    ...{ severity: 'fault', since: null, sessionIds },
    what: isKnown ? problem : `${about} cannot be read: ${problem.replace(/\.$/, '')}.`,
    advice: (isKnown && ADVICE[error.code]) || ADVICE_ELSE,
  }
}

/** Whether a part of the examination only met the damage that another finding names. */
export function isRepeat(findings: readonly OwnFinding[], { what }: OwnFinding): boolean {
  return findings.some((other) => what.includes(other.what))
}

/** Findings after which transcripts cannot be judged and nothing may be written. */
export const DAMAGE: ReadonlySet<string> = new Set([
  'damaged-chain',
  'damaged-row',
  'lost-commits',
  'store-damaged',
  'unreadable',
])

export function worstOf(findings: readonly OwnFinding[]): OwnFinding['severity'] | 'none' {
  for (const severity of ['fault', 'warning', 'note'] as const) {
    if (findings.some((finding) => finding.severity === severity)) return severity
  }
  return 'none'
}
