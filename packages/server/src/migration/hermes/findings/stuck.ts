import type { SessionSurvey } from '../diagnose/survey.ts'
import type { Hold } from '../read/rows.ts'
import { type Finding, finding } from './finding.ts'
import type { StoreView } from './identity.ts'

/**
 * Sessions that can no longer compact: a pause after failures that has not ended, two strikes that
 * forbid it, a lock that will not be released. Such a session grows until the provider refuses it.
 */
export interface StuckView extends StoreView {
  readonly locks: readonly Hold[]
  readonly hygiene: ReadonlyMap<string, number>
}

const STRIKES = 2
/** Locks last 300 s and are renewed; an end this far in the future comes from a wrong clock. */
const LOCK_AHEAD_SECONDS = 3_600

export function findStuck(view: StuckView): Finding[] {
  // The first row per name, since a damaged table may have several.
  const lockedUntil = new Map(view.locks.toReversed().map(({ name, until }) => [name, until]))
  return [...view.survey.sessions.values()]
    .filter(({ session }) => session.endedAt === null)
    .flatMap((survey) => judge(survey, view, lockedUntil))
}

function judge(
  survey: SessionSurvey,
  { now, hygiene }: StuckView,
  lockedUntil: ReadonlyMap<string, number>,
): Finding[] {
  const { session } = survey
  const { cooldownUntil, cooldownError, fallbackStreak, ineffectiveCount } = session
  const reasons: string[] = []
  let isSure = false
  if (cooldownUntil !== null && cooldownUntil > now) {
    reasons.push(
      `its pause after a failed summary lasts for another ${Math.ceil(cooldownUntil - now)} s`,
    )
    isSure = true
  } else if (cooldownUntil !== null && survey.lastAt !== null && cooldownUntil > survey.lastAt) {
    reasons.push('its last summary failed, and nothing was written since that pause began')
  }
  if (fallbackStreak >= STRIKES) {
    reasons.push(`${fallbackStreak} summaries in a row failed and were replaced by a stand-in`)
    isSure = true
  }
  if (ineffectiveCount >= STRIKES) {
    reasons.push(`${ineffectiveCount} compactions in a row saved too little`)
    isSure = true
  }
  const streak = session.sessionKey === null ? 0 : (hygiene.get(session.sessionKey) ?? 0)
  if (streak >= STRIKES) {
    reasons.push(`the gateway's own compaction failed ${streak} times in a row`)
    isSure = true
  }
  if ((lockedUntil.get(session.id) ?? 0) > now + LOCK_AHEAD_SECONDS) {
    reasons.push('its compaction lock ends more than an hour from now')
    isSure = true
  }
  if (reasons.length === 0) return []
  return [
    finding({
      kind: 'stuck-compaction',
      severity: 'risk',
      certainty: isSure ? 'certain' : 'suspected',
      sessionIds: [session.id],
      title: 'A session can no longer compact itself',
      explanation:
        `${session.id}: ${reasons.join('; ')}. Until that changes its context only grows.` +
        (cooldownError === null ? '' : ` The last error was: ${cooldownError.slice(0, 200)}`),
      advice:
        'Mend the auxiliary model, then send /compress in that conversation: it clears the pause and the strikes.',
      from: survey.lastAt,
      to: cooldownUntil,
      facts: {
        cooldownUntil,
        cooldownError,
        fallbackStreak,
        ineffectiveCount,
        hygieneStreak: streak,
      },
    }),
  ]
}
