import { Command } from 'commander'
import type { StoreFlags } from '../../../host/flags.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { addStoreOptions } from '../../store-options.ts'
import { cannotWrite } from '../../terminal/output.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { printNotice } from '../../terminal/stderr.ts'

export function backupCommand(): Command {
  const command = new Command('backup')
    .summary('copy the whole store to a new file while it is in use')
    .description(
      'Copies the whole store to a new file while it is in use. The copy is a store: name ' +
        'it with --store. Copy a PostgreSQL store with the server’s own tools.',
    )
    .argument('<file>', 'the new file; must not exist')
    .action(async (file: string, flags: StoreFlags) => {
      const { withStoreRuntime } = await import('../../../host/with-runtime.ts')
      process.exitCode = await withStoreRuntime(flags, async ({ store }) => {
        const progress = new ProgressLine('Copying the store')
        await store
          .backup(file)
          .catch((error: unknown) => {
            throw isOfTheDisk(error) ? cannotWrite(file, error) : error
          })
          .finally(() => progress.end())
        printNotice(`The store was copied to ${file}.`)
        return EXIT.done
      })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'copied'],
      [EXIT.failed, 'the store is busy, or there is no space left'],
      [EXIT.usage, 'wrong usage, no store there or a damaged one, or the file exists'],
    ],
    examples: ['throughline backup backup-$(date +%F).db', 'throughline sessions --store copy.db'],
  })
}

/** The store runs in another thread, which passes on only the message of an error. */
function isOfTheDisk(error: unknown): boolean {
  return error instanceof Error && /^E[A-Z]+: /.test(error.message)
}
