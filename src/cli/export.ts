import { Command } from 'commander'
import { sessionId } from '../base/ids.ts'
import { EXIT } from './exit.ts'
import { withHelp } from './help.ts'
import { writeStream } from './output.ts'
import { addPlaceOptions, type PlaceFlags } from './place-options.ts'

interface ExportFlags extends PlaceFlags {
  readonly output: string
}

export function exportCommand(): Command {
  const command = new Command('export')
    .summary('write one session as JSON lines that `import` takes')
    .description(
      'Writes one whole session as JSON lines: transcript, mailbox, waiting replies and what was ' +
        'attached. Another store takes it under the same id. Only reads.',
    )
    .argument('<session>', 'its id')
    .option('-o, --output <file>', 'write there instead of to standard output', '-')
    .action(async (id: string, flags: ExportFlags) => {
      const { readPlace } = await import('./open-place.ts')
      process.exitCode = await readPlace(flags, async ({ runtime }) => {
        await writeStream(flags.output, runtime.session(sessionId(id)).exportLines())
        return EXIT.done
      })
    })
  return withHelp(addPlaceOptions(command), {
    codes: [
      [EXIT.done, 'written'],
      [EXIT.failed, 'the store is busy or cannot be reached now'],
      [EXIT.usage, 'wrong usage, or no such store or session, or the file cannot be written'],
    ],
    examples: [
      'throughline export 0f3a -o 0f3a.jsonl',
      'throughline export 0f3a | throughline import - --store other.db',
    ],
  })
}
