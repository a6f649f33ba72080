import { VAGUE_LAWS } from '../../packages/server/src/rehearsal/laws/laws.ts'
import type { RehearsalReport } from '../../packages/server/src/rehearsal/report.ts'

/** What one rehearsal has come to. */
export interface Outcome {
  /** Null: it ended without a report. */
  readonly laws: readonly string[] | null
  readonly offences: readonly string[]
}

/** Which laws the report of `rehearse --json` says are broken, and how it says so. */
export function readOutcome(stdout: string): Outcome {
  const { verdicts = [], audit } = JSON.parse(stdout || '{}') as Partial<RehearsalReport>
  if (verdicts.length === 0 || audit === undefined) return { laws: null, offences: [] }
  const all = [
    ...verdicts.map(({ law, holds, offences }) => ({ law, holds, offences })),
    ...audit.laws.map(({ law, holds, offences }) => ({
      ...{ law, holds },
      offences: offences.map(({ problem, sessionId }) => `${sessionId ?? ''} ${problem}`.trim()),
    })),
  ]
  const broken = all.filter(({ holds }) => !holds)
  return {
    laws: broken.map(({ law }) => law),
    offences: broken.flatMap(({ law, offences }) => offences.map((each) => `${law}: ${each}`)),
  }
}

/** A planted bug is caught by a law that a busy machine does not break by itself. */
export function isCaught({ laws }: Outcome): boolean {
  return laws?.some((law) => !VAGUE_LAWS.includes(law)) ?? false
}

/** There is a report, and it finds nothing: what the control must come to. */
export function isClean({ laws, offences }: Outcome): boolean {
  return laws?.length === 0 && offences.length === 0
}
