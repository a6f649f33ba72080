import { existsSync } from 'node:fs'
import { Command } from 'commander'
import type { ImportHermes, ImportProgress } from '../doctor/import/hermes.ts'
import { type ImportReport, unaccounted } from '../doctor/import/report.ts'
import { renderImport } from '../doctor/report/import-text.ts'
import { thisHost } from '../runtime/host.ts'
import { limitsFor } from '../runtime/limits.ts'
import type { ReadStore } from '../store/contract.ts'
import { EXIT } from './exit.ts'
import { withHelp } from './help.ts'
import { writeOutput } from './output.ts'
import { addPlaceOptions, type PlaceFlags } from './place-options.ts'
import { ProgressLine } from './progress.ts'
import { jsonLine } from './tell.ts'

interface ImportHermesFlags extends PlaceFlags {
  readonly agent?: string
  readonly dryRun?: true
  readonly memories?: true
  readonly json?: true
}

/** Until an agent of that name is configured; its own limits take over with its first turn. */
const WINDOW_TOKENS = 200_000

export function importHermesCommand(): Command {
  const command = new Command('hermes')
    .summary('bring the conversations of a Hermes home')
    .description(
      'Brings every conversation of a Hermes home or state.db as one session, under the id of its ' +
        'first one; messages lost by compaction are put back in their place. The home is only ' +
        'read. Run again, only what is new arrives.',
    )
    .argument('<path>', 'a Hermes home, the folder of a profile, or a state.db')
    .option('--agent <name>', "the agent that they become; else the profile's name")
    .option('--dry-run', 'say what would be brought and write nothing')
    .option('--memories', 'turn MEMORY.md and USER.md into notes of the agent')
    .option('--json', 'print what happened as JSON')
    .action(async (path: string, _flags: unknown, command: Command) => {
      // What `import` takes too is read by it, wherever it stands.
      process.exitCode = await runImport(path, command.optsWithGlobals<ImportHermesFlags>())
    })
  return withHelp(addPlaceOptions(command), {
    codes: [
      [EXIT.done, 'brought, or nothing was new'],
      [
        EXIT.failed,
        'some conversations were left, or rows are unaccounted for; the report says which',
      ],
      [EXIT.usage, 'wrong usage, or a home that cannot be read; nothing was changed'],
    ],
    examples: [
      'throughline import hermes ~/.hermes --dry-run',
      'throughline import hermes ~/.hermes/profiles/nova --agent nova --memories',
    ],
  })
}

async function runImport(path: string, flags: ImportHermesFlags): Promise<number> {
  const { importHermes } = await import('../doctor/import/hermes.ts')
  const prompt = process.env['CONTEXT_COMPRESSION_PROMPT']
  const progress = new ProgressLine('Reading')
  const bring = async (target: ImportHermes['target']) => {
    const report = await importHermes({
      ...{ path, target },
      agent: flags.agent ?? null,
      limits: limitsFor({ windowTokens: WINDOW_TOKENS, fixedTokens: 0 }),
      host: thisHost(),
      withMemories: flags.memories === true,
      ...(prompt !== undefined && prompt !== '' && { compressionPrompt: prompt }),
      onProgress: (at) => progress.update(progressText(at)),
    })
    progress.end()
    await writeOutput('-', flags.json ? jsonLine(report) : renderImport(report))
    return codeOf(report)
  }
  try {
    if (flags.dryRun) return await lookOnly(flags, (reads) => bring({ isDryRun: true, reads }))
    const { openPlace } = await import('./open-place.ts')
    return await openPlace(flags, async ({ store }) => await bring({ isDryRun: false, store }), {
      mayMake: true,
    })
  } finally {
    progress.end()
  }
}

/** A store that is not there yet is not made by looking. */
async function lookOnly(
  flags: PlaceFlags,
  act: (reads: ReadStore | null) => Promise<number>,
): Promise<number> {
  const { readPlace, storeOf } = await import('./open-place.ts')
  const { url } = storeOf(flags)
  if (!/^postgres/i.test(url) && !existsSync(url)) return await act(null)
  return await readPlace(flags, async ({ store }) => await act(store))
}

function codeOf({ profiles }: ImportReport): number {
  const isWhole = profiles.every(({ rows }) => rows.left === 0 && unaccounted(rows) === 0)
  return isWhole ? EXIT.done : EXIT.failed
}

function progressText({ stage, profile, rows, of }: ImportProgress): string {
  const share = Math.floor((100 * rows) / Math.max(of, rows, 1))
  const bar = '#'.repeat(Math.floor(share / 5)).padEnd(20, '.')
  return `${stage === 'reading' ? 'Reading' : 'Bringing'} ${profile} [${bar}] ${share} %`
}
