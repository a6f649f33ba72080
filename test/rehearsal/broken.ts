import type { RehearsalReport } from '../../src/rehearsal/report.ts'

/** What the report of `rehearse --json` says is broken, and how it says so. */
export function lawsBroken(stdout: string): {
  readonly laws: readonly string[]
  readonly offences: readonly string[]
} {
  const { verdicts = [], audit } = JSON.parse(stdout || '{}') as Partial<RehearsalReport>
  const all = [
    ...verdicts.map(({ law, holds, offences }) => ({ law, holds, offences })),
    ...(audit?.laws ?? []).map(({ law, holds, offences }) => ({
      ...{ law, holds },
      offences: offences.map(({ problem, sessionId }) => `${sessionId ?? ''} ${problem}`.trim()),
    })),
  ]
  if (all.length === 0) return { laws: ['no report'], offences: [] }
  const broken = all.filter(({ holds }) => !holds)
  return {
    laws: broken.map(({ law }) => law),
    offences: broken.flatMap(({ law, offences }) => offences.map((each) => `${law}: ${each}`)),
  }
}
