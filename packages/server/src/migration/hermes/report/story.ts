import { type Diagnosis, healthOf, isFault, type ProfileDiagnosis } from '../diagnose/diagnosis.ts'
import { counted, FINDING_KINDS, type Finding } from '../findings/finding.ts'

/**
 * The diagnosis as a post-mortem, independent of the output format: what was examined, the verdict,
 * then for each conversation what happened when, what is certain, what is suspected, and what is
 * only worth knowing. Every text is on one line and free of control characters, whatever the store
 * contained; renderers escape it for their format.
 */
export interface Story {
  readonly title: string
  readonly verdict: string
  readonly chapters: readonly Chapter[]
}

export interface Chapter {
  readonly title: string
  readonly facts: readonly string[]
  readonly sections: readonly Section[]
}

export interface Section {
  readonly title: string
  readonly subtitle: string | null
  readonly lanes: readonly StoryLane[]
  readonly timeline: readonly Moment[]
  readonly groups: readonly Group[]
}

export interface StoryLane {
  readonly id: string
  readonly label: string
  readonly from: number | null
  readonly to: number | null
}

export interface Moment {
  readonly at: number | null
  readonly time: string
  readonly sessionId: string
  readonly text: string
  readonly weight: 'plain' | Finding['severity']
}

export interface Group {
  readonly title: 'Certain' | 'Suspected' | 'Worth knowing'
  readonly items: readonly StoryItem[]
}

export interface StoryItem {
  readonly title: string
  readonly label: string
  readonly severity: Finding['severity']
  readonly explanation: string
  readonly advice: string
  readonly evidence: readonly string[]
}

const EVIDENCE_MAX = 12

export function renderStory(diagnosis: Diagnosis): Story {
  return {
    title: plain(`Examination of ${diagnosis.path ?? 'Hermes logs'}`),
    verdict: verdictOf(diagnosis),
    chapters: diagnosis.profiles.map((profile) => tellProfile(profile)),
  }
}

function verdictOf(diagnosis: Diagnosis): string {
  const { profiles } = diagnosis
  const health = healthOf(diagnosis)
  const faults = profiles.flatMap(({ findings }) => findings.filter(isFault))
  const unreadable = profiles.filter(({ store }) => store.kind === 'unreadable').length
  const sure = faults.filter(({ certainty }) => certainty === 'certain').length
  const told = profiles.reduce((sum, profile) => sum + countHarmed(profile), 0)
  const found =
    faults.length === 0
      ? 'No fault was found.'
      : `${counted(faults.length, 'fault')} in ${counted(told, 'conversation')}: ${sure} certain, ${faults.length - sure} suspected.`
  if (health !== 'unreadable') return found
  const bad = `${counted(unreadable, 'store')} could not be read.`
  return faults.length === 0 ? bad : `${bad} ${found}`
}

function countHarmed({ conversations, findings }: ProfileDiagnosis): number {
  return conversations.filter(({ timeline }) =>
    timeline.some(({ finding }) => {
      const found = finding === null ? undefined : findings[finding]
      return found !== undefined && isFault(found)
    }),
  ).length
}

function tellProfile(profile: ProfileDiagnosis): Chapter {
  const { name, findings, conversations } = profile
  const loose = findings.filter(({ sessionIds }) => sessionIds.length === 0)
  return {
    title: plain(`Profile ${name}`),
    facts: [...storeLines(profile), ...logLines(profile), ...profile.remarks].map(plain),
    sections: [
      ...conversations.map((conversation) => tellConversation(profile, conversation)),
      ...(loose.length === 0
        ? []
        : [
            {
              title: 'Not tied to one conversation',
              subtitle: null,
              lanes: [],
              timeline: [],
              groups: groupItems(loose),
            },
          ]),
    ],
  }
}

function storeLines({ store, conversationsHealthy, conversations }: ProfileDiagnosis): string[] {
  switch (store.kind) {
    case 'none':
      return ['Logs only; no store was named.']
    case 'unreadable':
      return [`${store.path} cannot be examined (${store.verdict}): ${store.problem}`]
    case 'read': {
      const schema =
        store.schemaVersion === null ? 'of unknown schema' : `schema ${store.schemaVersion}`
      return [
        `${store.path}: ${schema}, ${counted(store.sessions, 'session')}, ${counted(store.rows, 'row')}, ${store.liveRows} of them live.`,
        conversations.length === 0
          ? `${counted(conversationsHealthy, 'conversation')}, as ${conversationsHealthy === 1 ? 'it' : 'they'} should be.`
          : `Nothing to say about ${counted(conversationsHealthy, 'other conversation')}.`,
      ]
    }
    default:
      return store satisfies never
  }
}

function logLines({ logs, zoneSeconds, store }: ProfileDiagnosis): string[] {
  if (logs.paths.length === 0) return ['No logs were read; what only they know is not in here.']
  const zone =
    store.kind !== 'read'
      ? ''
      : zoneSeconds === null
        ? ' The time zone of the logs could not be told from the store, so their times stand as they are.'
        : ` The logs run ${zoneText(zoneSeconds)}; their times are told in UTC.`
  return [`${counted(logs.paths.length, 'log')} with ${counted(logs.lines, 'line')}.${zone}`]
}

function zoneText(seconds: number): string {
  const hours = Math.abs(seconds) / 3_600
  return seconds === 0 ? 'on UTC' : `${hours} h ${seconds > 0 ? 'ahead of' : 'behind'} UTC`
}

function tellConversation(
  { findings }: ProfileDiagnosis,
  conversation: ProfileDiagnosis['conversations'][number],
): Section {
  const { rootId, title, source, sessions, timeline } = conversation
  const own = timeline.flatMap(({ finding }) => {
    const found = finding === null ? undefined : findings[finding]
    return found === undefined ? [] : [found]
  })
  const name = [source, title].filter((text) => text !== null && text !== '').join(', ')
  const times = timeline.flatMap(({ at }) => (at === null ? [] : [at]))
  const last = times.reduce<number | null>((max, at) => Math.max(max ?? at, at), null)
  return {
    title: plain(`Conversation ${rootId}`),
    subtitle: name === '' ? null : plain(name),
    lanes: sessions.map(({ id, startedAt, endedAt, endReason, rows }) => ({
      id: plain(id),
      label: plain(`${id} · ${counted(rows, 'row')}${endReason === null ? '' : ` · ${endReason}`}`),
      from: startedAt,
      to: endedAt ?? last,
    })),
    timeline: timeline.map(({ at, sessionId, text, finding }) => ({
      at,
      time: timeText(at),
      sessionId: plain(sessionId),
      text: plain(text),
      weight: finding === null ? 'plain' : (findings[finding]?.severity ?? 'plain'),
    })),
    groups: groupItems(own),
  }
}

function groupItems(findings: readonly Finding[]): Group[] {
  const groups: Group[] = [
    { title: 'Certain', items: itemsOf(findings, 'certain') },
    { title: 'Suspected', items: itemsOf(findings, 'suspected') },
    { title: 'Worth knowing', items: findings.filter((one) => !isFault(one)).map(itemOf) },
  ]
  return groups.filter(({ items }) => items.length > 0)
}

function itemsOf(findings: readonly Finding[], certainty: Finding['certainty']): StoryItem[] {
  return findings.filter((one) => isFault(one) && one.certainty === certainty).map(itemOf)
}

function itemOf(finding: Finding): StoryItem {
  const anomaly = FINDING_KINDS[finding.kind]
  return {
    title: plain(finding.title),
    label: anomaly === null ? finding.kind : `anomaly ${anomaly}, ${finding.kind}`,
    severity: finding.severity,
    explanation: plain(finding.explanation),
    advice: plain(finding.advice),
    evidence: evidenceOf(finding),
  }
}

function evidenceOf({ rows, rowCount, lines }: Finding): string[] {
  const shown = rows.slice(0, EVIDENCE_MAX)
  const rest = rowCount - shown.length
  return [
    ...shown.map(({ id, sessionId, role, at, text }) =>
      plain(
        `row ${id} of ${sessionId}, ${role}, ${timeText(at)}: ${text === '' ? '(no text)' : text}`,
      ),
    ),
    ...(rest > 0 ? [`and ${counted(rest, 'more row')}`] : []),
    ...lines
      .slice(0, EVIDENCE_MAX)
      .map(({ path, line, text }) => plain(`${path}:${line}: ${text}`)),
    ...(lines.length > EVIDENCE_MAX ? [`and ${lines.length - EVIDENCE_MAX} more lines`] : []),
  ]
}

const TIME_MAX = 8.64e12

export function timeText(at: number | null): string {
  if (at === null || Math.abs(at) > TIME_MAX) return 'at an unknown time'
  // A log line that was quoted without its date.
  if (at >= 0 && at < 86_400) return new Date(at * 1_000).toISOString().slice(11, 19)
  return new Date(at * 1_000).toISOString().replace('T', ' ').slice(0, 19)
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu

function plain(text: string): string {
  return text.replace(UNSEEN, ' ').trim()
}
