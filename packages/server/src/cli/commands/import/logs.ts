import { Command } from 'commander'
import type { LogFormat } from '../../../migration/logs/files.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { addStoreOptions } from '../../store-options.ts'
import { type BringFlags, bringInto } from './target.ts'

interface ImportLogsFlags extends BringFlags {
  readonly agent?: string
}

const PROGRAMS: { readonly [format in LogFormat]: { name: string; home: string } } = {
  'claude-code': { name: 'Claude Code', home: '~/.claude' },
  codex: { name: 'Codex', home: '~/.codex' },
  pi: { name: 'pi', home: '~/.pi' },
}

/** One command for each program whose session logs are known. */
export function importLogsCommands(): readonly Command[] {
  return (Object.keys(PROGRAMS) as LogFormat[]).map((format) => {
    const { name, home } = PROGRAMS[format]
    const command = new Command(format)
      .summary(`import the sessions of ${name}`)
      .description(
        `Imports the session logs of ${name}, each as one session: its messages, its compactions ` +
          'and the abandoned branches. The logs are only read. A second run imports only what ' +
          'is new.',
      )
      .argument('<path>', `a log (.jsonl, .jsonl.gz), a folder of logs, or the home (${home})`)
      .option('--agent <name>', 'the agent that gets them', format)
      .option('--dry-run', 'show what would be imported and write nothing')
      .option('--json', 'print the outcome as JSON')
      .action(async (path: string, _flags: unknown, self: Command) => {
        // Commander gives an option that `import` also has to `import`, wherever it appears.
        const flags = self.optsWithGlobals<ImportLogsFlags>()
        process.exitCode = await run(path, format, flags)
      })
    return withHelp(addStoreOptions(command), {
      codes: [
        [EXIT.done, 'imported, or nothing was new'],
        [EXIT.failed, 'something was skipped; the report says what and why'],
        [EXIT.usage, 'wrong usage, or nothing to import there; nothing changed'],
      ],
      examples: [`throughline import ${format} ${home} --dry-run`],
    })
  })
}

async function run(path: string, format: LogFormat, flags: ImportLogsFlags): Promise<number> {
  const { importLogs } = await import('../../../migration/logs/import.ts')
  const { redact: mask } = await import('#core/compaction/redact/redact')
  return await bringInto(flags, async (target, progress) => {
    const onFile = (files: number, of: number) =>
      progress.update(`Importing ${files} of ${of} logs`)
    const { agent = format } = flags
    return await importLogs({ ...target, format, path, agent, mask, onFile })
  })
}
