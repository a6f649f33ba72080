import { existsSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname, resolve } from 'node:path'
import { Command } from 'commander'
import { UsageError } from '../../../host/errors.ts'
import { onEndSignal, programEnvironment, signalExitCode } from '../../../host/operating-system.ts'
import type { RehearsalReport } from '../../../rehearsal/report.ts'
import type { StoreLocation } from '../../../rehearsal/stage/store-location.ts'
import { FAULTS, type FaultName, readFaults, type Sabotage } from '../../../rehearsal/terms.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { paintOn } from '../../terminal/colours.ts'
import { countOption } from '../../terminal/numbers.ts'
import { writeOutput } from '../../terminal/output.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'
import { drawTable } from '../../terminal/table.ts'
import { RehearsalPicture } from './picture.ts'
import { renderRehearsal } from './report.ts'
import { findSabotages, type Sabotages } from './sabotage.ts'

/** No other command uses this exit code. */
const NOT_PLAYED = 5

interface RehearseFlags {
  readonly agents: number
  readonly seconds: number
  readonly window: number
  readonly store?: string
  readonly faults: ReadonlySet<FaultName>
  readonly sabotage?: string
  readonly keep?: true
  readonly json?: true
}

// More processes than this measure the machine rather than Throughline.
const AGENTS_MAX = 64
const SECONDS = { min: 5, max: 3_600 }
// System text and tools fill a smaller window; a minute's messages do not fill a larger one.
const WINDOW = { min: 7_000, max: 200_000 }

export function rehearseCommand(): Command {
  const command = new Command('rehearse')
    .summary('run a drill with many agents and faults, and give a verdict')
    .description(
      'Starts agents as separate processes on one store and the built-in model, drives them ' +
        'into compaction, sends messages meanwhile, and interrupts, kills and damages them. ' +
        'Then it proves from the logs, the store and the agents’ answers that nothing was lost. ' +
        '`audit` proves what happened, `doctor` finds damage.',
    )
    .addOption(
      countOption('--agents <n>', 'how many processes', { min: 2, max: AGENTS_MAX }).default(9),
    )
    .addOption(countOption('--seconds <n>', 'how long the agents run', SECONDS).default(60))
    .addOption(countOption('--window <tokens>', "the model's window", WINDOW).default(8_000))
    .option(
      '--store <path>',
      'a new SQLite file, or postgres://… for a new schema; default: a temporary file',
    )
    .option(
      '--faults <names>',
      `all, none, or some of ${Object.keys(FAULTS).join(',')}`,
      readFaults,
    )
    .option(
      '--sabotage <name>',
      'plant a known bug, which the rehearsal must find; `list` names them',
    )
    .option('--keep', 'keep the store and the logs')
    .option('--json', 'print the verdicts and figures as JSON')
    .action(async (flags: Omit<RehearseFlags, 'faults'> & Partial<RehearseFlags>) => {
      process.exitCode = await runRehearse({ ...flags, faults: flags.faults ?? readFaults('all') })
    })
  return withHelp(command, {
    codes: [
      [EXIT.done, 'every law holds'],
      [EXIT.failed, 'a law is broken; the report shows how'],
      [NOT_PLAYED, 'no law is broken, but the machine was too busy to run every scene'],
      [EXIT.usage, 'wrong usage, or a store that cannot be created'],
      [signalExitCode('SIGINT'), 'interrupted; its files were removed'],
    ],
    examples: [
      'throughline rehearse',
      'throughline rehearse --agents 13 --store postgres://db.example/agents --json',
      'throughline rehearse --agents 3 --seconds 10 --faults kills,outage',
    ],
  })
}

const EXIT_CODES = {
  holds: EXIT.done,
  broken: EXIT.failed,
  'not-played': NOT_PLAYED,
} as const

async function runRehearse(flags: RehearseFlags): Promise<number> {
  const sabotages = flags.sabotage === undefined ? null : await findSabotages(import.meta.url)
  if (sabotages !== null && flags.sabotage === 'list') return await listSabotages(sabotages, flags)
  const { rehearse } = await import('../../../rehearsal/rehearse.ts')
  const { ACTS } = await import('../../../rehearsal/acts.ts')
  const called = new AbortController()
  let signal: NodeJS.Signals | undefined
  const unlisten = onEndSignal((name) => {
    signal = name
    printNotice(`${name}: ending the agents and removing the files; a second signal ends at once.`)
    called.abort()
  })
  const picture = new RehearsalPicture(process.stderr)
  const { PictureFile } = await import('../../../host/rehearsal-file.ts')
  const file = new PictureFile()
  const sabotage = sabotages?.find(flags.sabotage ?? '') ?? null
  const { agents, seconds, window: windowTokens, faults, store } = flags
  try {
    const report = await rehearse(
      {
        ...{ agents, seconds, windowTokens, faults, sabotage, isKept: flags.keep ?? false },
        ...(store !== undefined && { location: storeTarget(store) }),
        acts: ACTS,
        env: agentEnvironment(sabotages, sabotage),
        onPicture: (view) => {
          picture.draw(view)
          file.draw(view)
        },
      },
      called.signal,
    )
    picture.end()
    file.end(report)
    await writeOutput('-', flags.json ? jsonLine(report) : forPeople(report))
    return EXIT_CODES[report.verdict]
  } catch (error) {
    if (signal !== undefined && called.signal.aborted) return signalExitCode(signal)
    throw error
  } finally {
    picture.end()
    unlisten()
  }
}

function forPeople(report: RehearsalReport): string {
  return renderRehearsal(report, paintOn(process.stdout))
}

/** A new store: a rehearsal never uses an existing one. */
function storeTarget(store: string): StoreLocation {
  if (/^postgres(?:ql)?:\/\//i.test(store)) {
    const chance = Math.random().toString(36).slice(2, 10)
    return { kind: 'postgres', url: store, schema: `throughline_rehearsal_${chance}` }
  }
  const path = resolve(store)
  if (!existsSync(path)) return { kind: 'sqlite', path }
  throw new UsageError(
    `${store} already exists. A rehearsal creates a new store; choose another path.`,
  )
}

/** Variables that programs need, the compile cache, and the source of planted bugs. */
function agentEnvironment(
  sabotages: Sabotages | null,
  sabotage: Sabotage | null,
): NodeJS.ProcessEnv {
  const compiled = getCompileCacheDir()
  return {
    ...programEnvironment(),
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: dirname(compiled) }),
    ...(sabotages !== null && sabotage !== null && sabotages.environment(sabotage.name)),
  }
}

async function listSabotages({ list }: Sabotages, { json }: RehearseFlags): Promise<number> {
  const rows = list.map(({ name, story }) => [name, story])
  const columns = [{ title: 'SABOTAGE' }, { title: 'HOW IT BREAKS' }]
  const text = json ? jsonLine(list) : drawTable(columns, rows, paintOn(process.stdout))
  await writeOutput('-', text)
  return EXIT.done
}
