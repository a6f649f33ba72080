import { statSync } from 'node:fs'
import { Command } from 'commander'
import { UsageError } from '../../../host/errors.ts'
import type { DiagnoseProgress } from '../../../migration/hermes/diagnose/diagnose.ts'
import { type HermesHealth, healthOf } from '../../../migration/hermes/diagnose/diagnosis.ts'
import { renderHtml } from '../../../migration/hermes/report/html.ts'
import { renderJson } from '../../../migration/hermes/report/json.ts'
import { renderMarkdown } from '../../../migration/hermes/report/markdown.ts'
import { renderRepair } from '../../../migration/hermes/report/repair-text.ts'
import { renderText } from '../../../migration/hermes/report/text.ts'
import { keepYoungGenerationSmall } from '../../../runtime/young-generation.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { commandForm, programLocation } from '../../hint.ts'
import { addStoreOptions } from '../../store-options.ts'
import { writeOutput, writeReport } from '../../terminal/output.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { forTerminal, jsonLine } from '../../terminal/stderr.ts'
import { type OwnFlags, runOwnDoctor } from './own.ts'

interface HermesFlags {
  readonly log?: readonly string[]
  readonly json?: true
  readonly markdown?: true
  readonly html?: string
  readonly repairTo?: string
}

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .summary('find and explain damage in conversation stores')
    .description(
      'Examines the store: schema, chains, claims, leases, mail, answers, search index, files and ' +
        'clock. Only reads, except with --fix or --accept-loss.',
    )
    .option('--fix', 'make the safe repairs and report each one')
    .option('--accept-loss', 'continue with a store that has lost acknowledged commits')
    .option('--json', 'print the findings as JSON')
    .action(async (flags: OwnFlags) => {
      process.exitCode = await runOwnDoctor(flags)
    })
  withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'nothing is wrong, or there are only notes'],
      [EXIT.failed, 'there are warnings'],
      [EXIT.usage, 'there are faults, or wrong usage, or the store cannot be read'],
    ],
    examples: [
      'throughline doctor',
      'throughline doctor --fix',
      'throughline doctor hermes ~/.hermes',
    ],
  })
  return command.addCommand(
    new Command('hermes')
      .description('Examines a Hermes home or state.db and its logs. They are only read.')
      .argument('[path]', 'a Hermes home or a state.db; without it only logs are examined')
      .option('--log <file...>', 'more logs, beside those in the home; also rotated and .gz files')
      .option('--json', 'print the diagnosis as JSON')
      .option('--markdown', 'print the report as Markdown')
      .option('--html <file>', 'write the report as an HTML page with a timeline')
      .option('--repair-to <file>', 'write a repaired copy of the store, for Hermes itself')
      .addHelpText('after', () => helpAfter(commandForm(programLocation())))
      .action(async (path: string | undefined, _flags: unknown, self: Command) => {
        // Commander gives an option that `doctor` also has to `doctor`, wherever it appears.
        process.exitCode = await runHermes(path ?? null, self.optsWithGlobals<HermesFlags>())
      }),
  )
}

const helpAfter = (program: string) => `
Exit codes:
  0  no fault was found, or none is left in the repaired copy
  1  faults were found, or are left in the copy; the report names them
  2  wrong usage, or a store that cannot be read or repaired

Examples:
  ${program} doctor hermes ~/.hermes
  ${program} doctor hermes ~/.hermes/state.db --repair-to repaired.db
  ${program} doctor hermes state.db --log logs/agent.log logs/agent.log.1.gz --html report.html`

async function runHermes(path: string | null, flags: HermesFlags): Promise<number> {
  const { log: logs = [], json, markdown, html } = flags
  if (path === null && logs.length === 0) {
    throw new UsageError('Name a Hermes home, a state.db, or at least one log with --log.')
  }
  if (json && markdown) throw new UsageError('Choose one of --json and --markdown.')
  keepYoungGenerationSmall()
  if (flags.repairTo !== undefined) return await runRepair(path, flags.repairTo, flags)
  for (const log of logs) {
    if (statSync(log, { throwIfNoEntry: false })?.isFile() !== true) {
      throw new UsageError(`${log} cannot be read: there is no such file.`)
    }
  }
  // Imported here so that other commands do not load SQLite.
  const { diagnoseHermes } = await import('../../../migration/hermes/diagnose/diagnose.ts')
  const progress = new ProgressLine('Examining')
  try {
    const onProgress = (at: DiagnoseProgress) => progress.update(progressText(at))
    const diagnosis = await diagnoseHermes(path, { logs, onProgress })
    progress.end()
    if (html !== undefined) await writeOutput(html, renderHtml(diagnosis))
    if (html === '-') return CODES[healthOf(diagnosis)]
    if (json) for (const piece of renderJson(diagnosis)) await writeOutput('-', forTerminal(piece))
    else await writeReport(markdown ? renderMarkdown(diagnosis) : renderText(diagnosis))
    return CODES[healthOf(diagnosis)]
  } finally {
    progress.end()
  }
}

async function runRepair(path: string | null, to: string, flags: HermesFlags): Promise<number> {
  const { log, json, markdown, html } = flags
  if (path === null || log !== undefined || markdown || html !== undefined) {
    throw new UsageError(
      '--repair-to takes a home or a state.db; the only other option it allows is --json.',
    )
  }
  const { repairHermes } = await import('../../../migration/hermes/repair/repair.ts')
  const progress = new ProgressLine('Repairing')
  try {
    const report = await repairHermes({ path, to })
    progress.end()
    if (json) await writeOutput('-', jsonLine(report))
    else await writeReport(renderRepair(report))
    return report.left.length === 0 ? EXIT.done : EXIT.failed
  } finally {
    progress.end()
  }
}

const CODES: { readonly [health in HermesHealth]: number } = {
  healthy: EXIT.done,
  faults: EXIT.failed,
  unreadable: EXIT.usage,
}

function progressText(at: DiagnoseProgress): string {
  switch (at.stage) {
    case 'log':
      return `Reading ${at.path}`
    case 'rows':
      return `Reading messages of ${at.profile}, ${Math.floor((100 * at.rows) / Math.max(at.of, at.rows))} %`
    default:
      return at satisfies never
  }
}
