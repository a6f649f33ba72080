import { Command, Option } from 'commander'
import { sessionId } from '#core/base/ids'
import type { StoreFlags } from '../../../host/flags.ts'
import type { ReadAction } from '../../../host/with-runtime.ts'
import type { SessionSort } from '../../../runtime/runtime.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { addStoreOptions } from '../../store-options.ts'
import { paintOn } from '../../terminal/colours.ts'
import { countOption } from '../../terminal/numbers.ts'
import { writeOutput } from '../../terminal/output.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'
import { unpricedModels, unpricedText } from './prices-hint.ts'
import { drawSessions } from './table.ts'

interface SessionsFlags extends StoreFlags {
  readonly agent?: string
  readonly after?: string
  readonly limit: number
  readonly sort: SessionSort
  readonly all?: true
  readonly json?: true
}

export function sessionsCommand(): Command {
  const command = new Command('sessions')
    .summary('list sessions: context, state, queued messages')
    .description(
      'Lists the sessions of a store, the last active first. Only reads. A narrow terminal shows fewer ' +
        'columns; a pipe gets all of them. TOKENS and COST count all ' +
        'model calls. A + after the cost means that some calls have no known price and are not included; ' +
        '`unknown` means that none has a known price. Set prices with `limits.prices`.',
    )
    .option('--agent <name>', 'only this agent’s sessions')
    .option('--after <session>', 'continue after this session')
    .addOption(
      countOption('--limit <n>', 'list at most this many', { min: 1, max: 1_000 }).default(100),
    )
    .addOption(
      new Option('--sort <order>', 'newest first by last entry or by creation, or by id')
        .choices(['active', 'created', 'id'])
        .default('active'),
    )
    .option('--all', 'also list purged sessions')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: SessionsFlags) => {
      const { withReadRuntime } = await import('../../../host/with-runtime.ts')
      const act: ReadAction = (opened) => runSessions(opened, flags)
      process.exitCode = await withReadRuntime(flags, act, { knowsSpend: true })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'listed, even if there are none'],
      [EXIT.failed, 'the store is busy or cannot be reached now'],
      [EXIT.usage, 'wrong usage, or no store there'],
    ],
    examples: [
      'throughline sessions',
      "throughline sessions --json | jq -r 'select(.waiting > 0) | .id'",
    ],
  })
}

async function runSessions(
  { runtime, store }: Parameters<ReadAction>[0],
  flags: SessionsFlags,
): Promise<number> {
  const { agent, after, limit, sort, all, json } = flags
  const sessions = await runtime.listSessions({
    ...{ limit, sort },
    ...(agent !== undefined && { agent }),
    ...(after !== undefined && { after: sessionId(after) }),
    ...(all === undefined && { state: 'open' }),
  })
  if (json) {
    await writeOutput('-', sessions.map(jsonLine).join(''))
    return EXIT.done
  }
  if (sessions.length === 0) {
    printNotice('No sessions. `throughline chat` starts one.')
    return EXIT.done
  }
  const paint = paintOn(process.stdout)
  const columns = process.stdout.isTTY ? process.stdout.columns : undefined
  const text = drawSessions(sessions, { now: Date.now(), paint, ...(columns && { columns }) })
  await writeOutput('-', text)
  if (!sessions.every(({ id }) => text.includes(id))) {
    printNotice('Ids are shortened to fit; commands accept the beginning of an id.')
  }
  if (sessions.some(({ usage }) => usage.unpricedCalls > 0)) {
    printNotice(unpricedText(await unpricedModels(store, sessions)))
  }
  for (const { id, state, wait } of sessions) {
    if (state === 'waiting-for-approval' && wait !== null) printNotice(`${id}: ${wait.text}`)
  }
  const last = sessions.at(-1)
  if (sessions.length === limit && last !== undefined) {
    printNotice(`There may be more: --after ${last.id}`)
  }
  return EXIT.done
}
