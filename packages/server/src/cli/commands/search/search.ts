import { Command, InvalidArgumentError, Option } from 'commander'
import type { SearchFilters } from '#core/store/queries'
import { UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import type { ReadAction } from '../../../host/with-runtime.ts'
import type { FoundEntries } from '../../../runtime/runtime.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { requireNamed } from '../../named-session.ts'
import { addStoreOptions } from '../../store-options.ts'
import { paintOn } from '../../terminal/colours.ts'
import { countOption } from '../../terminal/numbers.ts'
import { writeOutput } from '../../terminal/output.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'
import { drawFound } from './text.ts'

interface SearchFlags extends StoreFlags, SearchFilters {
  readonly session?: string
  readonly agent?: string
  readonly scope?: string
  readonly limit: number
  readonly neighbours: number
  readonly json?: true
}

export function searchCommand(): Command {
  const command = new Command('search')
    .summary('search conversations, including compacted parts')
    .description(
      'Searches all sessions, those of an agent or of a person, or one session. Compacted entries are found ' +
        'like all others; purged ones are not. Only reads.',
    )
    .argument('<text...>', 'words to look for; "a phrase" in quotation marks must occur exactly')
    .option('--session <session>', 'only in this session')
    .option('--agent <name>', "only in this agent's sessions")
    .option(
      '--scope <scope>',
      'only in the sessions of one person or chat: the id of the first of them',
    )
    .addOption(
      countOption('--limit <n>', 'list at most this many', { min: 1, max: 1_000 }).default(20),
    )
    .addOption(countOption('--skip <n>', 'skip this many of the best hits', { min: 0, max: 1_000 }))
    .addOption(
      countOption(
        '--neighbours <n>',
        'also show this many entries around each hit; needs --session',
        {
          min: 0,
          max: 20,
        },
      ).default(0),
    )
    .option('--exact', 'match the whole text exactly: names, paths, error messages')
    .addOption(
      new Option('--speaker <speaker>', 'only messages with this role').choices([
        ...['person', 'agent', 'tool', 'notification'],
      ]),
    )
    .option('--tool <name>', 'only calls of this tool and their results')
    .option('--path <file>', 'only entries that name this file')
    .option('--since <date>', 'only from this date or time on', momentIn)
    .option('--until <date>', 'only before this date or time', momentIn)
    .option('--json', 'print one JSON object per line')
    .action(async (words: string[], flags: SearchFlags) => {
      const { withReadRuntime } = await import('../../../host/with-runtime.ts')
      const { configuredEmbeddings } = await import('../../../host/store-selection.ts')
      const text = words.join(' ')
      const embeddings = await configuredEmbeddings(flags)
      const act: ReadAction = (opened) => runSearch(opened, text, flags)
      process.exitCode = await withReadRuntime(flags, act, { embeddings })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'found'],
      [EXIT.failed, 'nothing found, or the store is busy'],
      [EXIT.usage, 'wrong usage, or no store or session there'],
    ],
    examples: [
      'throughline search invoice number',
      'throughline search "retry limit" --session build-7 --neighbours 2',
    ],
  })
}

type ReadRuntime = Parameters<ReadAction>[0]

async function runSearch(opened: ReadRuntime, text: string, flags: SearchFlags): Promise<number> {
  const { found, total, note } = await find(opened, text, flags)
  if (flags.json) await writeOutput('-', found.map(jsonLine).join(''))
  else {
    const paint = paintOn(process.stdout)
    await writeOutput(
      '-',
      found
        .map((hit) =>
          drawFound(hit, { query: { text, ...(flags.exact && { exact: true }) }, paint }),
        )
        .join(''),
    )
    const upTo = (flags.skip ?? 0) + found.length
    if (found.length === 0) printNotice(nothingFound(flags))
    else if (total > upTo) printNotice(`${total - upTo} more match: --skip ${upTo} shows the next.`)
  }
  if (note !== undefined) printNotice(note)
  return found.length > 0 ? EXIT.done : EXIT.failed
}

function nothingFound({ exact }: SearchFlags): string {
  return exact === true
    ? 'Nothing found. With --exact the whole text must occur; without it one of the words is enough.'
    : 'Nothing found. A hit needs only one of the words, in any form; a phrase in quotation marks must match exactly.'
}

async function find(
  { runtime, store }: ReadRuntime,
  text: string,
  flags: SearchFlags,
): Promise<FoundEntries> {
  const { agent, scope, limit, neighbours } = flags
  const { exact, skip, speaker, tool, path, since, until } = flags
  const query = {
    ...{ text, limit },
    ...(skip !== undefined && { skip }),
    ...(exact !== undefined && { exact }),
    ...(speaker !== undefined && { speaker }),
    ...(tool !== undefined && { tool }),
    ...(path !== undefined && { path }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  }
  if (flags.session === undefined) {
    if (neighbours > 0) throw new UsageError('--neighbours needs --session.')
    return await runtime.search({
      ...query,
      ...(agent !== undefined && { agent }),
      ...(scope !== undefined && { scope }),
    })
  }
  if (agent !== undefined) throw new UsageError('Use either --session or --agent.')
  if (scope !== undefined) throw new UsageError('Use either --session or --scope.')
  const session = runtime.session(await requireNamed(store, flags.session))
  return await session.search({ ...query, neighbours })
}

function momentIn(text: string): number {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new InvalidArgumentError('Give a date such as 2026-03-01.')
  return at
}
