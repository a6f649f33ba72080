import { diagnoseHermes } from '../../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { isFault } from '../../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import type { Finding } from '../../../packages/server/src/migration/hermes/findings/finding.ts'
import type { Expected } from '../homes/conversations.ts'
import { type GeneratedHome, generateHome } from '../homes/generate.ts'
import type { LogExpected } from '../homes/logs.ts'
import { judgeImport } from './judge-import.ts'
import { judgeRepair } from './judge-repair.ts'

/** Examines one generated home; says what was missed, invented or told wrongly. */
export async function judgeSeed(seed: number, folder: string): Promise<readonly string[]> {
  const home = generateHome(seed, folder)
  const { profiles } = await diagnoseHermes(home.path, { now: home.now })
  const [profile] = profiles
  if (profile?.store.kind !== 'read') return [`seed ${seed}: the store was not read`]
  const problems = [
    ...judge(home, profile.findings.filter(isFault)),
    ...(await judgeImport(home)),
    ...(await judgeRepair(home, profile.findings.filter(isFault))),
  ]
  return problems.map((problem) => `seed ${seed}: ${problem}`)
}

function judge(home: GeneratedHome, faults: readonly Finding[]): string[] {
  const left = [...faults]
  const problems: string[] = []
  for (const expected of home.expected) {
    const index = left.findIndex(
      ({ kind, sessionIds }) =>
        kind === expected.kind &&
        (expected.sessionId === null
          ? sessionIds.length === 0
          : sessionIds.includes(expected.sessionId)),
    )
    const [found] = index < 0 ? [] : left.splice(index, 1)
    if (found === undefined) problems.push(`missed ${expected.kind} of ${expected.sessionId}`)
    else problems.push(...compare(expected, found, home))
  }
  const invented = left.map(
    ({ kind, sessionIds }) => `invented ${kind} of ${sessionIds.join(', ')}`,
  )
  return [...problems, ...invented]
}

function compare(
  expected: Expected | LogExpected,
  found: Finding,
  { isGoneExact }: GeneratedHome,
): string[] {
  if (expected.sessionId === null || !('rowIds' in expected || 'rowsGone' in expected)) return []
  const problems: string[] = []
  const ids = found.rows.map(({ id }) => id)
  if (expected.rowIds !== undefined && expected.rowIds.join() !== ids.join()) {
    problems.push(`${found.kind}: rows ${ids.join()} instead of ${expected.rowIds.join()}`)
  }
  if (expected.rowsGone !== undefined) {
    const gone = Number(found.facts['rowsGone'])
    const isRight = isGoneExact ? gone === expected.rowsGone : gone >= expected.rowsGone
    if (!isRight) problems.push(`${found.kind}: ${gone} rows gone instead of ${expected.rowsGone}`)
  }
  return problems
}
