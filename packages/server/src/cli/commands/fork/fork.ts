import { randomUUID } from 'node:crypto'
import { Command } from 'commander'
import { UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import type { Session } from '../../../runtime/runtime.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { commandForm, programLocation } from '../../hint.ts'
import { requireNamed, unknownSession } from '../../named-session.ts'
import { addStoreOptions } from '../../store-options.ts'
import { countOption } from '../../terminal/numbers.ts'
import { writeOutput } from '../../terminal/output.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'

interface ForkFlags extends StoreFlags {
  readonly at?: number
  readonly id?: string
  readonly json?: true
}

const ENTRY_MAX = 2 ** 31 - 1

export function forkCommand(): Command {
  const command = new Command('fork')
    .summary('start a new session from an entry of another one')
    .description(
      'Starts a new session with the entries of another one up to --at, to try another way or to go ' +
        'back to an earlier point. The other session does not change. Nothing is copied, so ' +
        'erasing an entry erases it from both. Queued messages, ' +
        'routes and schedules stay with the other session. Prints the id of the new one.',
    )
    .argument('<session>', 'its id, or a unique prefix of it')
    .addOption(
      countOption('--at <n>', 'the last entry to include; default: the newest', {
        ...{ min: 1, max: ENTRY_MAX },
      }),
    )
    .option('--id <session>', 'the id of the new session; default: generated')
    .option('--json', 'print one JSON object')
    .action(async (id: string, flags: ForkFlags) => {
      const { withStoreRuntime } = await import('../../../host/with-runtime.ts')
      process.exitCode = await withStoreRuntime(flags, async ({ runtime, store }) => {
        return await runFork(runtime.session(await requireNamed(store, id)), flags)
      })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'created'],
      [EXIT.failed, 'the store is busy or cannot be reached now'],
      [EXIT.usage, 'wrong usage, no such store, session or entry, or the id is in use'],
    ],
    examples: [
      'throughline fork build-7 --at 120',
      'throughline show build-7   # shows the numbers',
    ],
  })
}

async function runFork(session: Session, { at, id, json }: ForkFlags): Promise<number> {
  const summary = await session.summary()
  if (summary === undefined) throw unknownSession(session.id)
  const forked = await session.fork({
    ...{ at: at ?? summary.entries, source: 'terminal', key: randomUUID() },
    ...(id !== undefined && { id }),
  })
  switch (forked.kind) {
    case 'forked':
    case 'duplicate': {
      const entry = at ?? summary.entries
      const { sessionId: made } = forked
      await writeOutput(
        '-',
        json ? jsonLine({ id: made, from: session.id, at: entry }) : `${made}\n`,
      )
      if (!json) {
        printNotice(
          `Forked from session ${session.id} at entry ${entry}. Continue it: ` +
            `${commandForm(programLocation())} chat --session ${made}`,
        )
      }
      return EXIT.done
    }
    case 'exists':
      throw new UsageError(`The id ${forked.sessionId} is in use. Choose another with --id.`)
    case 'unknown-entry':
      throw new UsageError(
        forked.entries === 0
          ? `Session ${session.id} has no entries yet.`
          : `Session ${session.id} has no entry ${at}; its last entry is ${forked.entries}.`,
      )
    case 'gone':
      throw new UsageError(`Session ${session.id} was purged; its id is never used again.`)
    default:
      throw new Error(`A session could not be forked: ${forked.kind}.`)
  }
}
