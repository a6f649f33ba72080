import type { SessionId } from '#core/base/ids'
import type { OwnDiagnosis } from '../../../doctor/finding.ts'
import { renderOwn } from '../../../doctor/text.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { EXIT } from '../../exit.ts'
import { countText } from '../../terminal/format.ts'
import { writeOutput, writeReport } from '../../terminal/output.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { jsonLine } from '../../terminal/stderr.ts'

export interface OwnFlags extends StoreFlags {
  readonly fix?: true
  readonly acceptLoss?: true
  readonly json?: true
}

/** Examines the configured store, or the named one; repairs it only on request. */
export async function runOwnDoctor(flags: OwnFlags): Promise<number> {
  const { auditFolder, besideStore, checkExists, configuredAgents, displayUrl, logsIn, storeOf } =
    await import('../../../host/store-selection.ts')
  const { acceptLoss, isServer, openForReading, openStore } = await import(
    '../../../host/open-store.ts'
  )
  const { isGone } = await import('#core/base/host')
  const { diagnoseOwn } = await import('../../../doctor/diagnose.ts')
  const { freeBytes, sqliteVersion } = await import('../../../doctor/file.ts')
  const { fixFindings } = await import('../../../doctor/fix.ts')
  const { finishErasure } = await import('../../../runtime/store-layers/purge.ts')
  const { estimateText } = await import('#core/tokens/estimate')
  const { worstOf } = await import('../../../doctor/finding.ts')
  const countTokens = (_id: SessionId, text: string) => estimateText(text, 'generic')
  const where = await storeOf(flags)
  checkExists(where.url)
  const progress = new ProgressLine('Examining the store')
  const now = Date.now()
  const beside = besideStore(where.url)
  const { sessions, findings: found } = await diagnoseOwn({
    ...{ now, isGone, agents: await configuredAgents(flags) },
    open: async () => await openForReading(where, process.env, beside),
    file: isServer(where.url) ? null : where.url,
    logs: logsIn(auditFolder(where.url)),
    freeBytes: isServer(where.url) ? null : freeBytes(where.url),
    sqlite: sqliteVersion(),
    onSession: (count) => progress.update(`Examining ${countText(count, 'session')}`),
  }).finally(() => progress.end())
  const lost = flags.acceptLoss ? found.filter(({ kind }) => kind === 'lost-commits') : []
  if (lost.length > 0) acceptLoss(where.url, beside)
  const accepted = lost.map(
    ({ what }) =>
      `The loss is accepted. Processes that serve the store take messages again after a restart. ${what}`,
  )
  const findings = found.filter((finding) => !lost.includes(finding))
  const repaired = flags.fix
    ? await fixFindings(findings, {
        openStore: () => openStore(where, process.env, beside),
        finishErasure: (store, id) => finishErasure({ store, countTokens }, id),
      })
    : []
  const diagnosis: OwnDiagnosis = {
    ...{ format: 'throughline-doctor', version: 1, store: displayUrl(where.url) },
    examinedAt: new Date(now).toISOString(),
    ...{ sessions, findings, fixed: [...accepted, ...repaired] },
  }
  if (flags.json) await writeOutput('-', jsonLine(diagnosis))
  else await writeReport(renderOwn(diagnosis))
  return CODES[worstOf(findings)]
}

const CODES = {
  none: EXIT.done,
  note: EXIT.done,
  warning: EXIT.failed,
  fault: EXIT.usage,
} as const
