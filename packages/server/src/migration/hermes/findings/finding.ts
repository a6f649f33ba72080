import type { JsonObject } from '#core/base/json'
import type { LogEvent } from '../read/log-event.ts'
import type { HermesRow, ReadRow } from '../read/rows.ts'

/**
 * One thing that happened to a conversation, with its evidence. Certain: the rows or lines allow no
 * other explanation. Suspected: the most likely explanation; the text names the alternatives.
 */
export interface Finding {
  readonly kind: FindingKind
  readonly severity: Severity
  readonly certainty: 'certain' | 'suspected'
  /** The session it happened to first, then the other sessions involved. */
  readonly sessionIds: readonly string[]
  readonly title: string
  readonly explanation: string
  readonly advice: string
  /** Epoch seconds by the store's clock, or by the log's if only the log has it. */
  readonly from: number | null
  readonly to: number | null
  readonly clock: 'store' | 'log'
  readonly facts: JsonObject
  readonly rows: readonly RowEvidence[]
  readonly rowCount: number
  readonly lines: readonly LineEvidence[]
}

/** Harm: something was lost or not seen. Risk: it may still happen. Note: not a fault. */
export type Severity = 'harm' | 'risk' | 'note'

/** The kinds, and to which of the two anomalies of the session-id issue each belongs. */
export const FINDING_KINDS = {
  'rows-after-closing': 'A',
  'orphaned-parent': 'A',
  fork: 'A',
  'empty-shell': 'A',
  'route-on-closed-parent': 'A',
  'identity-changed': 'A',
  'destructive-rewrite': 'B',
  'foreign-tag': 'B',
  'torn-summary': null,
  'poisoned-client': null,
  'stuck-compaction': null,
  'broken-tool-pair': null,
  'doubled-rows': null,
  'carried-over-rows': null,
  'said-no-record': null,
  'dropped-message': null,
  'route-nowhere': null,
  'homeless-rows': null,
  'parent-circle': null,
  'parent-missing': null,
  'hidden-continuation': 'A',
  'route-on-ended-session': null,
  'torn-route': null,
  'nothing-live': null,
  'odd-ending': null,
  'impossible-time': null,
  'nameless-rows': null,
  'unreadable-text': null,
  'broken-search': null,
  'damaged-index': null,
  'cut-log': null,
  'missing-columns': null,
} as const satisfies Record<string, 'A' | 'B' | null>

export type FindingKind = keyof typeof FINDING_KINDS

export interface RowEvidence {
  readonly id: number
  readonly sessionId: string
  readonly role: string
  readonly at: number | null
  readonly text: string
}

export interface LineEvidence {
  readonly path: string
  readonly line: number
  readonly text: string
}

const QUOTE_LENGTH_MAX = 160

/** Advice for every finding that a repair can fix in a copy of the store. */
export const REPAIR = '`throughline doctor hermes STORE --repair-to NEW` does so in a copy.'

export function rowEvidence(row: HermesRow): RowEvidence {
  const { id, sessionId, role, at, text } = row
  const start = text.startsWith('\0json:') ? 6 : 0
  // Copied, because a slice would keep the whole text in memory.
  const quote = JSON.stringify(text.slice(start, start + QUOTE_LENGTH_MAX))
  return { id, sessionId, role, at, text: JSON.parse(quote) as string }
}

/** The survey stores only row ids, so quoted rows are read again. */
export function readEvidence(ids: readonly number[], read: ReadRow): readonly RowEvidence[] {
  return ids.flatMap((id) => {
    const row = read(id)
    return row === null ? [] : [rowEvidence(row)]
  })
}

export function lineEvidence({ path, line, text }: LogEvent): LineEvidence {
  return { path, line, text }
}

type Optional = 'clock' | 'from' | 'to' | 'facts' | 'rows' | 'rowCount' | 'lines'

/** Fills the fields that most findings leave empty. */
export function finding(
  given: Omit<Finding, Optional> & Partial<Pick<Finding, Optional>>,
): Finding {
  const rows = given.rows ?? []
  return {
    ...{ clock: 'store', from: null, to: null, facts: {}, lines: [] },
    ...given,
    rows,
    rowCount: given.rowCount ?? rows.length,
  }
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
