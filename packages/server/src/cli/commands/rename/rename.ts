import { Command } from 'commander'
import { FailedError, UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { requireNamed, unknownSession } from '../../named-session.ts'
import { addStoreOptions } from '../../store-options.ts'
import { printNotice } from '../../terminal/stderr.ts'

export function renameCommand(): Command {
  const command = new Command('rename')
    .summary('give a session another title')
    .description('Changes the title of a session. Its id never changes.')
    .argument('<session>', 'its id, or a unique prefix of it')
    .argument('<title>', 'the new title; "" removes it')
    .action(async (id: string, title: string, flags: StoreFlags) => {
      const { withStoreRuntime } = await import('../../../host/with-runtime.ts')
      process.exitCode = await withStoreRuntime(flags, async ({ runtime, store }) => {
        const session = runtime.session(await requireNamed(store, id))
        const renamed = await session.rename(title)
        switch (renamed.kind) {
          case 'done':
            printNotice(title.trim() === '' ? 'The title was removed.' : 'Renamed.')
            return EXIT.done
          case 'too-long':
            throw new UsageError(`A title has at most ${renamed.limit} characters.`)
          case 'unknown':
            throw unknownSession(id)
          case 'gone':
            throw new UsageError(`Session ${session.id} was purged; it has no title any more.`)
          case 'superseded':
            throw new FailedError('The session is being erased; nothing was changed.')
          default:
            return renamed satisfies never
        }
      })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'renamed'],
      [EXIT.failed, 'the store is busy or cannot be reached now'],
      [EXIT.usage, 'wrong usage, no such store or session, or the title is too long'],
    ],
    examples: ['throughline rename build-7 "The build that broke"'],
  })
}
