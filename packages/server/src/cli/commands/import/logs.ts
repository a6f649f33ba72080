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
      .summary(`bring the sessions of ${name}`)
      .description(
        `Brings the session logs of ${name}, each as one session: what was said, its compactions, ` +
          'and the abandoned branches beside them. Logs are only read. A second run brings only what ' +
          'is new.',
      )
      .argument('<path>', `a log (.jsonl, .jsonl.gz), a folder of logs, or the home (${home})`)
      .option('--agent <name>', 'the agent that they become', format)
      .option('--dry-run', 'say what would be brought and write nothing')
      .option('--json', 'print what happened as JSON')
      .action(async (path: string, _flags: unknown, self: Command) => {
        // Commander gives options that `import` has too to `import`, wherever they appear.
        const flags = self.optsWithGlobals<ImportLogsFlags>()
        process.exitCode = await run(path, format, flags)
      })
    return withHelp(addStoreOptions(command), {
      codes: [
        [EXIT.done, 'brought, or nothing was new'],
        [EXIT.failed, 'something was left; the report says what and why'],
        [EXIT.usage, 'wrong usage, or nothing to bring there; nothing was changed'],
      ],
      examples: [`throughline import ${format} ${home} --dry-run`],
    })
  })
}

async function run(path: string, format: LogFormat, flags: ImportLogsFlags): Promise<number> {
  const { importLogs } = await import('../../../migration/logs/import.ts')
  return await bringInto(flags, async (target, progress) => {
    const onFile = (files: number, of: number) => progress.update(`Bringing ${files} of ${of} logs`)
    return await importLogs({ ...target, format, path, agent: flags.agent ?? format, onFile })
  })
}
