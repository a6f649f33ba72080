import type { ExaminedProfile } from '../diagnose/examine.ts'
import type { LogEvent } from '../read/log-event.ts'
import { findPoisonedClients } from './client.ts'
import { findFileFaults } from './file.ts'
import { dropUngrounded, type GroundedFindings } from './grounds.ts'
import { findIdentityFaults } from './identity.ts'
import { findDropped, findPauses, findTornSummaries } from './log-faults.ts'
import { findLogIdentityFaults } from './log-identity.ts'
import { findDenials } from './memory-gap.ts'
import { pairOperations } from './operations.ts'
import { findParentFaults } from './parents.ts'
import { findRewrites } from './rewrite.ts'
import { findStateFaults } from './state.ts'
import { findStuck } from './stuck.ts'
import { findTornMarkers } from './torn-marker.ts'
import { findTranscriptFaults } from './transcript.ts'

/** Everything that is wrong with one profile, from its store (null: none that can be read) and its logs. */
export function findAll({
  seen,
  events,
  now,
}: {
  readonly seen: ExaminedProfile | null
  readonly events: readonly LogEvent[]
  readonly now: number
}): GroundedFindings {
  const operations = pairOperations(events)
  const isSameConversation = (one: string, other: string) =>
    seen?.survey.sessions.has(one) === true &&
    seen.lineage.rootOf(one) === seen.lineage.rootOf(other)
  const heldOf = (id: string) => {
    const survey = seen?.survey.sessions.get(id)
    if (survey === undefined) return null
    const { burst, openCalls, answered, strayResults } = survey
    const hasToolRows = openCalls !== null || answered !== null || strayResults.count > 0
    return { isRewritten: burst !== null, hasToolRows }
  }
  const ofLog = [
    ...findLogIdentityFaults({ operations, events, isSameConversation, heldOf }),
    ...findTornSummaries(operations.pairs),
    ...findPoisonedClients(events),
    ...findPauses(events),
    ...findDropped(events),
  ]
  if (seen === null) return { findings: ofLog, remarks: [] }
  const view = { ...seen, now }
  const { findings: ofStore, remarks } = dropUngrounded(
    [
      ...findIdentityFaults(view),
      ...findParentFaults(view),
      ...findStateFaults(view),
      ...findFileFaults(view),
      ...findRewrites(view, operations.pairs),
      ...findTornMarkers(view),
      ...findStuck(view),
      ...findTranscriptFaults(view),
    ],
    seen.schema,
  )
  const denials = findDenials({ view, faults: ofStore, events })
  return { findings: [...ofStore, ...denials, ...ofLog], remarks }
}
