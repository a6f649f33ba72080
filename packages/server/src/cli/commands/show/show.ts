import { Command } from 'commander'
import { entryNumber, isId, parseSnapshotName, type SessionId, sessionId } from '#core/base/ids'
import type { ReadStore } from '#core/store/contract'
import { UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import type { ReadAction } from '../../../host/with-runtime.ts'
import type {
  ContextView,
  Session,
  SessionSnapshot,
  SessionSummary,
} from '../../../runtime/runtime.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { requireNamed, unknownSession } from '../../named-session.ts'
import { addStoreOptions } from '../../store-options.ts'
import { waitText } from '../../terminal/answers.ts'
import { paintOn } from '../../terminal/colours.ts'
import { ago, grouped } from '../../terminal/format.ts'
import { countOption, NUMBER_MAX } from '../../terminal/numbers.ts'
import { writeOutput } from '../../terminal/output.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'
import { drawReport } from './report-text.ts'

interface ShowFlags extends StoreFlags {
  readonly from?: number
  readonly to?: number
  readonly all?: true
  readonly context?: true
  readonly at?: number
  readonly snapshot?: number
  readonly compaction?: number
  readonly full?: true
  readonly json?: true
}

/** How many of the newest entries are shown by default. */
const ENTRIES_DEFAULT = 100
const COMPACTIONS_LISTED_MAX = 5
const PAGE = 500
/** A call is rarely further than this from its results. */
const CALLS = 20
const LINES_MAX = 12

export function showCommand(): Command {
  const number = (flags: string, description: string) =>
    countOption(flags, description, { min: 1, max: NUMBER_MAX })
  const command = new Command('show')
    .summary('show a transcript, or the context that the model sees')
    .description(
      'Shows the transcript of a session, by default the newest entries. Entries behind ' +
        'a rule (┊) were compacted: the model sees a handoff in their place. Only reads.',
    )
    .argument('<session>', 'its id, a unique prefix of it, or a snapshot: ID.snapshot.N')
    .optionsGroup('Transcript:')
    .addOption(number('--from <entry>', 'begin with this entry'))
    .addOption(number('--to <entry>', 'end with this entry'))
    .option('--all', 'from the first entry to the last')
    .optionsGroup('Context:')
    .option('--context', 'what the model sees now, part by part, with the source of each part')
    .addOption(number('--at <step>', 'what the model saw at this step (the entry of its answer)'))
    .addOption(number('--snapshot <n>', 'the context just before compaction n (its entry)'))
    .addOption(
      number(
        '--compaction <n>',
        'what compaction n (its entry) did with every message, and its cost',
      ),
    )
    .optionsGroup('Output:')
    .option('--full', 'do not shorten long results and parts')
    .option(
      '--json',
      'print a transcript as one JSON object per line, a context or a report as one object',
    )
    .action(async (id: string, flags: ShowFlags) => {
      const { withReadRuntime } = await import('../../../host/with-runtime.ts')
      const act: ReadAction = async ({ runtime, store, lost }) => {
        if (lost !== null) printNotice(`warning: ${lost}`)
        const snapshot = parseSnapshotName(id)
        const known = await resolve(store, snapshot?.sessionId ?? id)
        const session = runtime.session(known)
        return snapshot === undefined
          ? await runShow(session, flags)
          : await showSnapshot(session, snapshot.compaction, flags)
      }
      process.exitCode = await withReadRuntime(flags, act, { knowsSpend: true })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'shown'],
      [EXIT.failed, 'the store is busy or cannot be reached now'],
      [EXIT.usage, 'wrong usage, no store there, or no such session, step or compaction'],
    ],
    examples: [
      'throughline show build-7',
      'throughline show build-7 --context',
      'throughline show build-7 --at 42 --json',
      'throughline show build-7.snapshot.57',
      'throughline show build-7 --compaction 57',
      'throughline show build-7 --all --json | jq -r \'select(.kind == "input")\'',
    ],
  })
}

/** An id from before an import leads to the session that the conversation became. */
async function resolve(store: ReadStore, id: string): Promise<SessionId> {
  const given = isId(id) ? sessionId(id) : undefined
  if (given !== undefined && (await store.findSession(given)) !== undefined) return given
  const { findByOldId } = await import('../../../migration/old-ids.ts')
  const found = await findByOldId(store, id)
  if (found !== undefined) printNotice(`${id} is a part of session ${found}.`)
  return found ?? (await requireNamed(store, id))
}

async function runShow(session: Session, flags: ShowFlags): Promise<number> {
  const { context, at, snapshot, compaction } = flags
  const ways = [context, at, snapshot, compaction].filter((way) => way !== undefined)
  if (ways.length > 1) {
    throw new UsageError('Use only one of --context, --at, --snapshot and --compaction.')
  }
  if (compaction !== undefined) return await showReport(session, compaction, flags)
  return ways.length === 0
    ? await showTranscript(session, flags)
    : await showContext(session, flags)
}

/** Shows the context of a snapshot or, with a range, its entries. */
async function showSnapshot(session: Session, number: number, flags: ShowFlags): Promise<number> {
  const { context, at, snapshot, compaction, from, to, all } = flags
  if ([context, at, snapshot, compaction].some((way) => way !== undefined)) {
    throw new UsageError(
      'A snapshot is one context: --context, --at, --snapshot and --compaction do not apply.',
    )
  }
  const isTranscript = from !== undefined || to !== undefined || all === true
  if (!isTranscript) return await showContext(session, { ...flags, snapshot: number })
  return await showEntries(await findSnapshot(session, number), flags)
}

async function showTranscript(session: Session, flags: ShowFlags): Promise<number> {
  const summary = await found(session)
  const { entries, wait } = summary
  const transcript = async (range: { from: number; to: number }) =>
    (await session.transcript(range)) ?? []
  const exitCode = await showEntries({ entries, transcript }, flags)
  if (wait !== null && !flags.json) printNotice(waitText(wait))
  if (!flags.json) noteLeft(summary)
  return exitCode
}

async function showEntries(
  { entries: tail, transcript }: Pick<SessionSnapshot, 'transcript'> & { readonly entries: number },
  flags: ShowFlags,
): Promise<number> {
  const to = Math.min(flags.to ?? tail, tail)
  const from =
    flags.from ?? (flags.all || flags.to !== undefined ? 1 : Math.max(1, to - ENTRIES_DEFAULT + 1))
  const { drawEntries, toolsIn } = await import('../../terminal/transcript-text.ts')
  const paint = paintOn(process.stdout)
  const style = { paint, resultLinesMax: linesMax(flags), ...width() }
  // The first results may answer calls of entries before them.
  const before = from > 1 ? await transcript({ from: Math.max(1, from - CALLS), to: from - 1 }) : []
  let tools = toolsIn(before)
  // Page by page: a transcript may be larger than memory.
  for (let first = from; first <= to; first += PAGE) {
    const last = Math.min(to, first + PAGE - 1)
    const entries = await transcript({ from: first, to: last })
    const text = flags.json
      ? entries.map(jsonLine).join('')
      : drawEntries(entries, { ...style, tools })
    await writeOutput('-', text)
    tools = toolsIn(entries)
  }
  if (from > 1 && flags.from === undefined && !flags.json) {
    printNotice(`Entries ${from} to ${to} of ${grouped(tail)}; --all shows all of them.`)
  }
  return EXIT.done
}

/** Only a terminal has one. */
function width(): { readonly columns?: number } {
  return process.stdout.isTTY ? { columns: process.stdout.columns || 80 } : {}
}

async function showContext(session: Session, flags: ShowFlags): Promise<number> {
  const { drawContext } = await import('./context-text.ts')
  const view = await readContext(session, flags)
  const paint = paintOn(process.stdout)
  const text = flags.json
    ? jsonLine(view)
    : drawContext(view, { paint, partLinesMax: linesMax(flags), ...width() }, flags)
  await writeOutput('-', text)
  const isNow = flags.at === undefined && flags.snapshot === undefined
  if (isNow && !flags.json) noteLeft(await found(session))
  return EXIT.done
}

/**
 * The client continues from its own log, so its model sees other messages than are recorded here.
 */
function noteLeft({ left, contextTokens, windowTokens }: SessionSummary): void {
  if (left === null) return
  const share = Math.round((contextTokens / Math.max(1, windowTokens)) * 100)
  printNotice(
    `The session was left ${ago(left.at, Date.now())}: its client goes on from the handoff in its own log, ` +
      `with about ${grouped(contextTokens)} tokens (${share} %). The above is from before.`,
  )
}

async function showReport(session: Session, number: number, flags: ShowFlags): Promise<number> {
  await found(session)
  const report = await session.compactionReport(entryNumber(number))
  if (report === undefined) throw await noCompaction(session, number)
  const style = { paint: paintOn(process.stdout), isFull: flags.full === true }
  await writeOutput('-', flags.json ? jsonLine(report) : drawReport(report, style))
  return EXIT.done
}

async function readContext(session: Session, flags: ShowFlags): Promise<ContextView> {
  const { entries: tail } = await found(session)
  const { at, snapshot } = flags
  if (at !== undefined) await checkStep(session, at, tail)
  const view =
    snapshot === undefined
      ? await session.context(at === undefined ? {} : { at: entryNumber(at) })
      : await (await findSnapshot(session, snapshot)).context()
  if (view === undefined) throw unknownSession(session.id)
  return view
}

/** Any other entry would show a context that no model saw. */
async function checkStep(session: Session, number: number, tail: number): Promise<void> {
  const kind = await kindOf(session, number, tail)
  if (kind === 'assistant') return
  throw new UsageError(
    `Entry ${number} of session ${session.id} is not a step's answer: ${isNot(kind, tail)}.`,
  )
}

/** Reads a snapshot, or says why there is none. */
export async function findSnapshot(session: Session, number: number): Promise<SessionSnapshot> {
  const snapshot = await session.snapshot(entryNumber(number))
  if (snapshot !== undefined) return snapshot
  throw await noCompaction(session, number)
}

async function noCompaction(session: Session, number: number): Promise<UsageError> {
  const { entries: tail } = await found(session)
  const why = isNot(await kindOf(session, number, tail), tail)
  return new UsageError(
    `Entry ${number} of session ${session.id} is not a compaction: ${why}. ${await compactionsOf(session)}`,
  )
}

async function kindOf(session: Session, number: number, tail: number): Promise<string | undefined> {
  if (number > tail) return undefined
  return (await session.transcript({ from: number, to: number }))?.[0]?.kind
}

function isNot(kind: string | undefined, tail: number): string {
  return kind === undefined ? `the last entry is ${tail}` : `it is of kind ${kind}`
}

/** Helps people who count compactions from 1. */
async function compactionsOf(session: Session): Promise<string> {
  const made = (await session.compactions({ limit: COMPACTIONS_LISTED_MAX })) ?? []
  const entries = made.flatMap(({ entry }) => entry ?? [])
  return entries.length === 0
    ? 'It has no compaction yet.'
    : `Its newest compactions: ${entries.join(', ')}.`
}

async function found(session: Session): Promise<SessionSummary> {
  const summary = await session.summary()
  if (summary === undefined) throw unknownSession(session.id)
  return summary
}

function linesMax({ full }: ShowFlags): number {
  return full ? Number.POSITIVE_INFINITY : LINES_MAX
}
