import { Command } from 'commander'
import type { ImportProgress } from '../../../migration/hermes/import/import.ts'
import { keepYoungGenerationSmall } from '../../../runtime/young-generation.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { addStoreOptions } from '../../store-options.ts'
import { type BringFlags, bringInto } from './target.ts'

interface ImportHermesFlags extends BringFlags {
  readonly agent?: string
  readonly memories?: true
}

export function importHermesCommand(): Command {
  const command = new Command('hermes')
    .summary('import the conversations of a Hermes home')
    .description(
      'Imports each conversation of a Hermes home or state.db as one session, under the id of its ' +
        'first one, and restores messages lost by compaction. The home is only ' +
        'read. A second run imports only what is new.',
    )
    .argument('<path>', 'a Hermes home, the folder of a profile, or a state.db')
    .option('--agent <name>', "the agent that gets them; default: the profile's name")
    .option('--dry-run', 'show what would be imported and write nothing')
    .option('--memories', 'turn MEMORY.md and USER.md into notes of the agent')
    .option('--json', 'print the outcome as JSON')
    .action(async (path: string, _flags: unknown, command: Command) => {
      // Commander gives an option that `import` also has to `import`, wherever it appears.
      process.exitCode = await runImport(path, command.optsWithGlobals<ImportHermesFlags>())
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'imported, or nothing was new'],
      [
        EXIT.failed,
        'some conversations were skipped, or rows are unaccounted for; the report says which',
      ],
      [EXIT.usage, 'wrong usage, or a home that cannot be read; nothing changed'],
    ],
    examples: [
      'throughline import hermes ~/.hermes --dry-run',
      'throughline import hermes ~/.hermes/profiles/nova --agent nova --memories',
    ],
  })
}

async function runImport(path: string, flags: ImportHermesFlags): Promise<number> {
  keepYoungGenerationSmall()
  const { importHermes } = await import('../../../migration/hermes/import/import.ts')
  const prompt = process.env['CONTEXT_COMPRESSION_PROMPT']
  return await bringInto(flags, async (target, progress) => {
    return await importHermes({
      ...{ ...target, path },
      agent: flags.agent ?? null,
      withMemories: flags.memories === true,
      ...(prompt !== undefined && prompt !== '' && { compressionPrompt: prompt }),
      onProgress: (at) => progress.update(progressText(at)),
    })
  })
}

function progressText({ stage, profile, rows, of }: ImportProgress): string {
  const share = Math.floor((100 * rows) / Math.max(of, rows, 1))
  const bar = '#'.repeat(Math.floor(share / 5)).padEnd(20, '.')
  return `${stage === 'reading' ? 'Reading' : 'Bringing'} ${profile} [${bar}] ${share} %`
}
