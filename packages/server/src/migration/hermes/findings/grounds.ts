import type { HermesSchema } from '../read/schema.ts'
import type { Finding, FindingKind } from './finding.ts'

/**
 * The columns that findings depend on. Some stores lack columns. A finding is not reported if,
 * without the column, it cannot be told from normal behaviour; it is only suspected if the column
 * would merely have made it more certain.
 */
interface Grounds {
  readonly needs?: readonly string[]
  readonly isSurerBy?: readonly string[]
}

const GROUNDS: { readonly [kind in FindingKind]?: Grounds } = {
  'broken-tool-pair': { needs: ['messages.tool_calls', 'messages.tool_call_id'] },
  // Without parents, every session that compaction closed looks like this.
  'orphaned-parent': { needs: ['sessions.parent_session_id'] },
  // The child may have copies of them.
  'rows-after-closing': { isSurerBy: ['sessions.parent_session_id'] },
  // A continuation is also written at once, but its parent still has the rows.
  'destructive-rewrite': { needs: ['sessions.parent_session_id', 'sessions.end_reason'] },
  // Branches, delegates and sessions of tools have parents too.
  fork: { isSurerBy: ['sessions.model_config', 'sessions.source'] },
  'odd-ending': { needs: ['sessions.ended_at', 'sessions.end_reason'] },
  'hidden-continuation': { needs: ['sessions.ended_at', 'sessions.parent_session_id'] },
  'empty-shell': { isSurerBy: ['sessions.model_config', 'sessions.source'] },
}

export interface GroundedFindings {
  readonly findings: readonly Finding[]
  readonly remarks: readonly string[]
}

export function dropUngrounded(
  findings: readonly Finding[],
  { columns }: HermesSchema,
): GroundedFindings {
  const missing = new Set<string>()
  const lacks = (column: string) => {
    const [table = '', name = ''] = column.split('.')
    if (columns.get(table)?.has(name) === true) return false
    missing.add(column)
    return true
  }
  const grounded = findings.flatMap((finding): Finding[] => {
    const { needs = [], isSurerBy = [] } = GROUNDS[finding.kind] ?? {}
    if (needs.filter(lacks).length > 0) return []
    return [isSurerBy.filter(lacks).length > 0 ? { ...finding, certainty: 'suspected' } : finding]
  })
  const remarks = [...missing].map(
    (column) =>
      `It has no column ${column}; what only that column could show is suspected, or not judged.`,
  )
  return { findings: grounded, remarks }
}
