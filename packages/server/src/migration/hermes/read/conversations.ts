import type { HermesConversation, TimelineEntry } from '../diagnose/diagnosis.ts'
import type { SessionSurvey, Survey } from '../diagnose/survey.ts'
import type { Finding } from '../findings/finding.ts'
import type { Lineage } from '../findings/lineage.ts'
import { bornAt } from '../findings/log-identity.ts'
import type { ReadRow } from './rows.ts'

/** Groups the findings of one profile by conversation, each with its events in order of time. */
export interface Gathering {
  readonly survey: Survey | null
  readonly lineage: Lineage | null
  readonly findings: readonly Finding[]
  readonly zoneSeconds: number | null
  readonly read: ReadRow
}

export function gatherConversations(gathering: Gathering): readonly HermesConversation[] {
  const { findings } = gathering
  const rootOf = rootFinder(gathering)
  const groups = new Map<string, number[]>()
  for (const [index, { sessionIds }] of findings.entries()) {
    const [first] = sessionIds
    if (first === undefined) continue
    const root = rootOf(first)
    const group = groups.get(root)
    if (group === undefined) groups.set(root, [index])
    else group.push(index)
  }
  return [...groups].map(([root, indexes]) => tellConversation(root, indexes, gathering))
}

/** Uses the store if it knows the session, otherwise the links found in the log. */
function rootFinder({ survey, lineage, findings }: Gathering): (id: string) => string {
  const parents = new Map<string, string>()
  for (const { kind, sessionIds } of findings) {
    const [from, to] = sessionIds
    if (kind === 'identity-changed' && from !== undefined && to !== undefined) parents.set(to, from)
  }
  return (id) => {
    const seen = new Set<string>()
    let at = id
    while (!seen.has(at)) {
      seen.add(at)
      const isKnown = survey?.sessions.has(at) === true
      at = isKnown ? (lineage?.rootOf(at) ?? at) : (parents.get(at) ?? at)
    }
    return at
  }
}

function tellConversation(
  rootId: string,
  indexes: readonly number[],
  { survey, lineage, findings, zoneSeconds, read }: Gathering,
): HermesConversation {
  const root = survey?.sessions.get(rootId)
  const members = root === undefined ? [] : [root, ...(lineage?.descendantsOf(rootId) ?? [])]
  const entries: TimelineEntry[] = [
    ...members.flatMap((member) => milestones(member, read)),
    ...indexes.map((index) => findingEntry(index, findings[index], zoneSeconds)),
  ]
  return {
    rootId,
    title: root?.session.title ?? null,
    source: root?.session.source ?? null,
    sessions: members.map(({ session, rows }) => ({
      id: session.id,
      startedAt: session.startedAt,
      endedAt: session.endedAt,
      endReason: session.endReason,
      rows,
    })),
    timeline: entries.sort(
      (one, other) => (one.at ?? Number.MAX_VALUE) - (other.at ?? Number.MAX_VALUE),
    ),
  }
}

function milestones(
  { session, rows, handoffs, archived }: SessionSurvey,
  read: ReadRow,
): TimelineEntry[] {
  const about = { sessionId: session.id, finding: null }
  const { id, parentId } = session
  const began = parentId === null ? `${id} begins` : `${id} begins, after ${parentId}`
  return [
    { ...about, at: session.startedAt, text: `${began}; it holds ${rows} rows today` },
    ...(archived > 0
      ? handoffs.ids.map((row) => ({
          ...{ ...about, at: read(row)?.at ?? null },
          text: `${id} is compacted in place`,
        }))
      : []),
    ...(session.endedAt === null
      ? []
      : [{ ...about, at: session.endedAt, text: `${id} is closed (${session.endReason})` }]),
  ]
}

function findingEntry(
  index: number,
  finding: Finding | undefined,
  zoneSeconds: number | null,
): TimelineEntry {
  // A rewrite affects the session from its beginning, and happened at its end.
  const isRewrite = finding?.kind === 'destructive-rewrite'
  const at = (isRewrite ? finding?.to : finding?.from) ?? finding?.to ?? null
  const shift = finding?.clock === 'log' ? (zoneSeconds ?? 0) : 0
  return {
    at: at === null ? null : at - shift,
    sessionId: finding?.sessionIds[0] ?? '',
    text: finding?.title ?? '',
    finding: index,
  }
}

const ZONE_STEP_SECONDS = 900
const ZONE_SECONDS_MAX = 15 * 3_600

/** Ids contain their local creation time and rows the time in UTC; the difference is the zone. */
export function findZone(survey: Survey): number | null {
  const votes = new Map<number, number>()
  let voters = 0
  for (const { session } of survey.sessions.values()) {
    const local = bornAt(session.id)
    if (local === null || session.startedAt === null) continue
    voters += 1
    const zone = Math.round((local - session.startedAt) / ZONE_STEP_SECONDS) * ZONE_STEP_SECONDS
    if (Math.abs(zone) <= ZONE_SECONDS_MAX) votes.set(zone, (votes.get(zone) ?? 0) + 1)
  }
  const [best] = [...votes].sort((one, other) => other[1] - one[1])
  return best !== undefined && best[1] * 2 > voters ? best[0] : null
}
