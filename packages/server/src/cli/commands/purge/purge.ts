import { Command, Option } from 'commander'
import { sessionId } from '#core/base/ids'
import { FailedError, UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import type { Purged, PurgeRequest, Runtime, Session } from '../../../runtime/runtime.ts'
import { refusalReason } from '../../../runtime/sessions/refusal-text.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { unknownSession } from '../../named-session.ts'
import { addStoreOptions } from '../../store-options.ts'
import { countText } from '../../terminal/format.ts'
import { parseRanges } from '../../terminal/numbers.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { printNotice } from '../../terminal/stderr.ts'

interface PurgeFlags extends StoreFlags {
  readonly entries?: readonly number[]
  readonly reason: string
  readonly forks?: NonNullable<PurgeRequest['forks']>
  readonly yes?: true
  readonly vacuum?: boolean
}

export function purgeCommand(): Command {
  const command = new Command('purge')
    .summary('remove messages from a session for good')
    .description(
      'Removes the content of some entries, or of a whole session, for good. A purged id is never ' +
        'used again. Numbers, times and hashes stay, as proof that nothing ' +
        'else is missing. Backups and exports are not changed.',
    )
    .argument('<session>', 'its complete id')
    .addOption(
      new Option('--entries <list>', 'only these entries, such as 3-7,9').argParser(parseRanges),
    )
    .option('--reason <text>', 'the reason; it is kept, so write nothing private', 'asked for')
    .addOption(
      new Option(
        '--forks <what>',
        'if forks read the session: refuse, keep what they read, or purge them too',
      )
        .choices(['refuse', 'keep', 'purge'])
        .conflicts('entries'),
    )
    .option('--yes', 'do not ask for confirmation')
    .option('--vacuum', 'on PostgreSQL: rewrite the tables even while processes serve the store')
    .option('--no-vacuum', 'on PostgreSQL: leave the removed bytes in its table files')
    .action(async (id: string, flags: PurgeFlags) => {
      const { withStoreRuntime } = await import('../../../host/with-runtime.ts')
      process.exitCode = await withStoreRuntime(flags, async ({ runtime }) => {
        const end = await runPurge(runtime, runtime.session(sessionId(id)), flags)
        if (end === 'not-confirmed') return EXIT.failed
        const { removeBytes } = await import('./remove-bytes.ts')
        return await removeBytes(runtime, flags, { isGone: end === 'removed' })
      })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'removed, or requested from the process that holds the session'],
      [
        EXIT.failed,
        'not done: you answered no, it was refused, or the store is busy; or PostgreSQL did not rewrite its tables',
      ],
      [EXIT.usage, 'wrong usage, no such store or session, or --yes is missing in a script'],
    ],
    examples: ['throughline purge build-7', 'throughline purge build-7 --entries 12-14 --yes'],
  })
}

type PurgeEnd = 'removed' | 'asked' | 'not-confirmed'

async function runPurge(runtime: Runtime, session: Session, flags: PurgeFlags): Promise<PurgeEnd> {
  const summary = await session.summary()
  if (summary === undefined) {
    throw unknownSession(session.id, 'Give the complete id, as `throughline sessions` shows it.')
  }
  if (summary.state === 'gone' && flags.entries !== undefined) {
    throw new UsageError(`Session ${session.id} was purged as a whole.`)
  }
  const beyond = flags.entries?.find((number) => number > summary.entries)
  if (beyond !== undefined) {
    throw new UsageError(
      `Session ${session.id} has no entry ${beyond}; its last entry is ${summary.entries}.`,
    )
  }
  const what =
    flags.entries === undefined
      ? `all ${countText(summary.entries, 'entry', 'entries')} of session ${session.id}`
      : `${countText(flags.entries.length, 'entry', 'entries')} of session ${session.id}`
  const isGoneBefore = summary.state === 'gone'
  if (!(flags.yes || isGoneBefore || (await isConfirmed(what)))) {
    printNotice('Nothing was removed.')
    return 'not-confirmed'
  }
  const progress = new ProgressLine('Removing')
  try {
    const purged = await session.purge({
      ...{ entries: flags.entries ?? 'all', reason: flags.reason },
      ...(flags.forks !== undefined && { forks: flags.forks }),
    })
    if (purged.kind === 'forked') {
      const forks = purged.forks.join(', ')
      throw new FailedError(
        `Forks read session ${session.id}: ${forks}. Add --forks keep to leave them what they read, or --forks purge to remove them as well.`,
      )
    }
    const isGone = purged.kind !== 'asked' || (await isCarriedOut(runtime, purged.asked))
    const retained = purged.kind === 'purged' ? purged.retained : 0
    if (isGoneBefore)
      printNotice(
        `Session ${session.id} was already purged; ${retained === 0 ? 'nothing of it is left' : keptText(retained)}.`,
      )
    else if (retained > 0) printNotice(`Purged session ${session.id}; ${keptText(retained)}.`)
    else if (isGone) printNotice(`Removed for good: ${what}${forksIn(purged)}.`)
    else
      printNotice(
        `Requested: the process that holds the session, or the next one that does, will remove ${what}.`,
      )
    return isGone ? 'removed' : 'asked'
  } finally {
    progress.end()
  }
}

function keptText(retained: number): string {
  return `forks still read its entries up to ${retained}, which go with the last of them`
}

function forksIn(purged: Purged): string {
  const forks = purged.kind === 'purged' ? purged.sessions.length - 1 : 0
  return forks === 0 ? '' : `, and ${countText(forks, 'fork', 'forks')} with it`
}

const CARRY_OUT_MS_MAX = 10_000

/** False: no process has done it yet. */
async function isCarriedOut(
  runtime: Runtime,
  asked: Extract<Purged, { kind: 'asked' }>['asked'],
): Promise<boolean> {
  if (asked.length === 0) return true
  const { runners } = await runtime.health()
  if (runners.length === 0) return false
  const signal = AbortSignal.timeout(CARRY_OUT_MS_MAX)
  const progress = new ProgressLine('Removing')
  try {
    for (const { sessionId: id, mail } of asked) {
      const end = await runtime.session(id).controlOutcome(mail, signal)
      if (end === null) return false
      if (end.kind === 'turned-down') {
        throw new FailedError(`Not removed: ${refusalReason(end)}.`)
      }
    }
    return true
  } finally {
    progress.end()
  }
}

async function isConfirmed(what: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError(`This removes ${what} for good. Add --yes to confirm.`)
  }
  // Imported here because it takes a while to load.
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({
    message: `Remove ${what} for good?`,
    initialValue: false,
    output: process.stderr,
  })
  return !isCancel(answer) && answer
}
