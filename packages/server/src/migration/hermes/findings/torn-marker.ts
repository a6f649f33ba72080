import { type Finding, finding, readEvidence } from './finding.ts'
import type { StoreView } from './identity.ts'

/** Without a log: handoffs that say themselves that their summary was never written. */
export function findTornMarkers({ survey, read }: StoreView): Finding[] {
  return [...survey.sessions.values()].flatMap(({ session, torn }) => {
    if (torn.count === 0) return []
    const rows = readEvidence(torn.ids, read)
    return [
      finding({
        kind: 'torn-summary',
        severity: 'harm',
        certainty: 'suspected',
        sessionIds: [session.id],
        title: 'A handoff says that its summary could not be written',
        explanation:
          `The context of ${session.id} begins with a stand-in instead of a summary: the middle of the conversation was dropped unread. ` +
          'Somebody may have quoted that text; the log of the day would tell.',
        advice:
          'The rows that were dropped are still in the store or in the parent session; importing writes the summary anew.',
        from: rows[0]?.at ?? null,
        to: rows.at(-1)?.at ?? null,
        rows,
      }),
    ]
  })
}
