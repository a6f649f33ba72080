import { existsSync } from 'node:fs'
import { KnownError } from '../base/errors.ts'
import type { OwnDiagnosis, OwnFinding } from '../doctor/own/finding.ts'
import { renderOwn } from '../doctor/report/own-text.ts'
import { EXIT } from './exit.ts'
import { writeOutput } from './output.ts'
import type { PlaceFlags } from './place-options.ts'
import { ProgressLine } from './progress.ts'
import { jsonLine } from './tell.ts'

export interface OwnFlags extends PlaceFlags {
  readonly fix?: true
  readonly json?: true
}

/** Looks at the configured store, or the one that is named; repairs only when asked to. */
export async function runOwnDoctor(flags: OwnFlags): Promise<number> {
  const { storeOf, configuredAgents } = await import('./open-place.ts')
  const { besideStore, checkExists } = await import('./open-host.ts')
  const { isServer, openForReading, openStore } = await import('../runtime/open-store.ts')
  const { isGone } = await import('../runtime/host.ts')
  const { examineStore } = await import('../doctor/own/examine.ts')
  const { examineFile } = await import('../doctor/own/file.ts')
  const { fixFindings } = await import('../doctor/own/fix.ts')
  const { worstOf } = await import('../doctor/own/finding.ts')
  const where = storeOf(flags)
  checkExists(where.url)
  const progress = new ProgressLine('Examining the store')
  const now = Date.now()
  let sessions = 0
  const findings: OwnFinding[] = []
  try {
    const reads = await openForReading(where, process.env)
    try {
      const agents = configuredAgents(flags)
      const onSession = (count: number) => progress.update(`Examining ${count} sessions`)
      const examined = await examineStore({ reads, now, isGone, agents, onSession })
      sessions = examined.sessions
      findings.push(...examined.findings)
    } finally {
      await reads.close()
    }
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    findings.push(unreadable(error))
  } finally {
    progress.end()
  }
  if (!isServer(where.url) && existsSync(where.url)) findings.push(...examineFile(where.url))
  const fixed = flags.fix
    ? await fixFindings(findings, () => openStore(where, process.env, besideStore(where.url)))
    : []
  const diagnosis: OwnDiagnosis = {
    ...{ format: 'throughline-doctor', version: 1, store: where.url },
    examinedAt: new Date(now).toISOString(),
    ...{ sessions, findings, fixed },
  }
  await writeOutput('-', flags.json ? jsonLine(diagnosis) : renderOwn(diagnosis))
  return CODES[worstOf(findings)]
}

const CODES = {
  none: EXIT.done,
  note: EXIT.done,
  warning: EXIT.failed,
  fault: EXIT.usage,
} as const

function unreadable(error: KnownError): OwnFinding {
  return {
    ...{ kind: error.code, severity: 'fault', what: error.message, since: null, sessionIds: [] },
    advice: 'Restore a backup, or copy the files and look at the copy.',
  }
}
