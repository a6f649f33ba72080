import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Command } from 'commander'
import { type AuditProgress, type AuditReport, auditLogs } from '#core/audit/audit'
import { AUDIT_LAWS } from '#core/audit/laws/laws'
import { firstSessionIn } from '#core/audit/log/read-log'
import type { SessionId } from '#core/base/ids'
import { UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { addConfigOptions } from '../../config-options.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { paintOn } from '../../terminal/colours.ts'
import { countText } from '../../terminal/format.ts'
import { writeOutput } from '../../terminal/output.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { indentedJson, printNotice } from '../../terminal/stderr.ts'
import { renderAudit } from './report.ts'

interface AuditFlags extends StoreFlags {
  readonly json?: true
}

export function auditCommand(): Command {
  const command = new Command('audit')
    .summary('prove what happened: no session lost its identity or a message')
    .description(
      'Proves from audit logs what happened: that no session lost its identity or a message. ' +
        'Without logs, it checks those beside the configured store against that store. ' +
        '`doctor` finds damage; `rehearse` runs a drill with faults on this machine.',
    )
    .argument('[log...]', 'audit logs, one per process, in any order; - is standard input')
    .option('--json', 'print the verdicts as JSON')
    .optionsGroup('Where:')
    .option(
      '--store <path>',
      'check the logs against this store, a SQLite file or postgres://…; it is only read',
    )
    .action(async (logs: string[], flags: AuditFlags) => {
      process.exitCode = await runAudit(logs, flags)
    })
  return withHelp(addConfigOptions(command), {
    codes: [
      [EXIT.done, 'every law holds'],
      [EXIT.failed, 'a law is broken; the report shows the lines that break it'],
      [EXIT.usage, 'wrong usage, or a log or store that cannot be read'],
    ],
    examples: [
      'throughline audit',
      'throughline audit .throughline/audit/*.jsonl --store .throughline/throughline.db --json',
    ],
  })
}

async function runAudit(named: readonly string[], flags: AuditFlags): Promise<number> {
  // Imported here so that other commands do not load SQLite.
  const { openForReading } = await import('../../../host/open-store.ts')
  const found = named.length === 0 ? await findLogs(flags) : null
  const where = found === null ? whereOf(flags) : found.where
  const store = where === null ? null : await openForReading(where, process.env)
  const progress = new ProgressLine('Reading the logs')
  try {
    const paths =
      found === null || store === null
        ? named
        : await takeLogs(found, async (id) => (await store.findSession(id)) !== undefined)
    const onProgress = (at: AuditProgress) => progress.update(progressText(at))
    const report = await auditLogs({ paths, witness: store, onProgress })
    progress.end()
    const text = flags.json ? indentedJson(plain(report)) : forPeople(report)
    await writeOutput('-', text)
    return report.holds ? EXIT.done : EXIT.failed
  } finally {
    progress.end()
    await store?.close()
  }
}

function whereOf({ store }: AuditFlags): { readonly url: string } | null {
  return store === undefined ? null : { url: store }
}

interface FoundLogs {
  readonly where: { readonly url: string }
  readonly folder: string
  readonly paths: readonly string[]
  /** Logs in folders of earlier versions; some may belong to other stores. */
  readonly older: readonly string[]
}

/** The logs that the store's processes have written beside it. */
async function findLogs(flags: AuditFlags): Promise<FoundLogs> {
  const { auditFolder, checkExists, logsIn, olderAuditFolders, storeOf } = await import(
    '../../../host/store-selection.ts'
  )
  const where = await storeOf(flags)
  checkExists(where.url)
  const folder = auditFolder(where.url)
  return {
    ...{ where, folder, paths: logsIn(folder) },
    older: olderAuditFolders(where.url).flatMap(logsIn),
  }
}

/** All logs of the store, and the older ones whose first session is in the store. */
async function takeLogs(
  { where, folder, paths: own, older }: FoundLogs,
  isKnown: (id: SessionId) => Promise<boolean>,
): Promise<readonly string[]> {
  const { displayUrl } = await import('../../../host/store-selection.ts')
  const { isServer } = await import('../../../host/open-store.ts')
  const paths = [...own]
  for (const path of older) {
    const id = firstSessionIn(path)
    if (id !== null && (await isKnown(id as SessionId))) paths.push(path)
  }
  if (paths.length === 0) {
    throw new UsageError(
      `There is no audit log in ${folder}. \`throughline serve\` and \`throughline chat\` write ` +
        'them there; name logs that are elsewhere.',
    )
  }
  printNotice(
    `Auditing ${countText(own.length, 'log')} in ${folder} against ${displayUrl(where.url)}.`,
  )
  const taken = paths.slice(own.length)
  const folders = [...new Set(taken.map((path) => dirname(path)))].join(', ')
  if (taken.length > 0)
    printNotice(`And ${countText(taken.length, 'log')} of an earlier version in ${folders}.`)
  if (isServer(where.url))
    printNotice('If other hosts use this store too, name their logs as well.')
  return paths
}

function forPeople(report: AuditReport): string {
  return renderAudit(report, paintOn(process.stdout))
}

function plain({ holds, laws, figures, logs }: AuditReport) {
  const described = laws.map((law) => {
    const { title, contract, advice } = AUDIT_LAWS[law.law]
    return { ...law, title, contract, ...(law.holds ? {} : { advice }) }
  })
  return { holds, laws: described, figures, logs }
}

function progressText(at: AuditProgress): string {
  switch (at.stage) {
    case 'logs': {
      const size = at.path === '-' ? 0 : statSync(at.path).size
      const share = size === 0 ? '' : `, ${Math.floor((100 * at.bytes) / size)} %`
      return `Reading ${at.path}${share}`
    }
    case 'store':
      return `Reading the store, ${at.rows} rows`
    case 'lines':
      return 'Fetching the lines that break a law'
    default:
      return at satisfies never
  }
}
