import { randomUUID } from 'node:crypto'
import type { EntryNumber, MailNumber } from '#core/base/ids'
import type { Handoff } from '#core/message/handoff/handoff'
import type { ControlEnd } from '#core/session/view/control-outcome'
import { FailedError } from '../../../host/errors.ts'
import type { CompactionView, Runtime, Session } from '../../../runtime/runtime.ts'
import {
  findForkBefore,
  refusalReason,
  undoRefusalReason,
} from '../../../runtime/sessions/refusal-text.ts'
import { COMMAND_SOURCE, requireAccepted, warnIfUnserved } from '../../admission.ts'
import { EXIT } from '../../exit.ts'
import { commandForm, programLocation } from '../../hint.ts'
import { requireNamed } from '../../named-session.ts'
import { countText, grouped } from '../../terminal/format.ts'
import { writeOutput } from '../../terminal/output.ts'
import { printable } from '../../terminal/printable.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'
import type { CompactFlags } from './options.ts'

/** `compact --session`: requests a compaction or its undoing, or previews its handoff. */
export async function compactSession(flags: CompactFlags): Promise<number> {
  const { withStoreRuntime, withAgentRuntime } = await import('../../../host/with-runtime.ts')
  // A preview asks the agent's own model; a request only goes into the mailbox.
  const open = flags.preview ? withAgentRuntime : withStoreRuntime
  return await open(flags, async ({ runtime, store }) => {
    const session = runtime.session(await requireNamed(store, flags.session ?? ''))
    if (flags.preview) return await preview(session, flags)
    return await (flags.undo ? undo : ask)(runtime, session, flags)
  })
}

async function ask(runtime: Runtime, session: Session, flags: CompactFlags): Promise<number> {
  const { focus, json } = flags
  const before = await newest(session)
  const { mail } = requireAccepted(
    await session.compact({
      source: COMMAND_SOURCE,
      key: randomUUID(),
      ...(focus !== undefined && { focus }),
    }),
    session.id,
  )
  if (!flags.wait) {
    return await requested(runtime, session, { mail, json, what: 'will be compacted' })
  }
  const end = await outcomeOf(runtime, session, { mail, flags, doing: 'Compacting' })
  const after = await newest(session)
  const made = after?.operationId === before?.operationId ? null : (after ?? null)
  if (json) await writeOutput('-', jsonLine({ sessionId: session.id, mail, compaction: made }))
  if (end?.kind === 'turned-down' && end.why !== 'nothing-to-compact') {
    throw new FailedError(`Not compacted: ${refusalReason(end)}.`)
  }
  return reportOutcome(session, end?.kind === 'turned-down' ? null : made)
}

async function undo(runtime: Runtime, session: Session, flags: CompactFlags): Promise<number> {
  const { json } = flags
  const compaction = (await session.summary())?.compaction ?? null
  if (compaction === null) {
    throw new FailedError(`Session ${session.id} has no compaction in effect; nothing to undo.`)
  }
  const ended = await session.undoForClient(compaction)
  if (ended !== null) return await tellUndo(session, ended, flags)
  const asked = { source: COMMAND_SOURCE, key: randomUUID(), compaction }
  const { mail } = requireAccepted(await session.revert(asked), session.id)
  if (!flags.wait) {
    const what = 'will have its newest compaction undone'
    return await requested(runtime, session, { mail, json, what })
  }
  const end = await outcomeOf(runtime, session, { mail, flags, doing: 'Undoing the compaction' })
  if (json) await writeOutput('-', jsonLine({ sessionId: session.id, mail, outcome: end }))
  if (end === null) throw new FailedError('Not undone: the request was withdrawn. Nothing changed.')
  if (end.kind === 'turned-down') throw await undoRefused(session, end, compaction)
  const tokens = grouped((await session.summary())?.contextTokens ?? 0)
  printNotice(`Undone: the compaction at entry ${compaction}. The context is ${tokens} tokens now.`)
  return EXIT.done
}

async function undoRefused(
  session: Session,
  end: Extract<ControlEnd, { kind: 'turned-down' }>,
  compaction: EntryNumber,
): Promise<FailedError> {
  const windowTokens = (await session.summary())?.windowTokens ?? 0
  const why = undoRefusalReason(end, { compaction, windowTokens })
  const refused = `Not undone: ${why}. Nothing changed.`
  if (end.why !== 'no-room') return new FailedError(refused)
  const program = commandForm(programLocation())
  const forkAt = await findForkBefore(session, compaction)
  const fork =
    forkAt === null
      ? ''
      : `\nTo continue with them word for word, begin a new session at #${forkAt}: ` +
        `${program} fork ${session.id} --at ${forkAt}`
  return new FailedError(
    `${refused}\nThe older messages are still stored. To read what the model saw before: ` +
      `${program} show ${session.id} --snapshot ${compaction}${fork}`,
  )
}

/** No agent runs the session of a client, so this command writes the undo itself. */
async function tellUndo(
  { id }: Session,
  ended: NonNullable<Awaited<ReturnType<Session['undoForClient']>>>,
  { json }: CompactFlags,
): Promise<number> {
  if (ended.kind === 'refused') throw new FailedError(`Not undone. ${ended.problem}`)
  if (json) await writeOutput('-', jsonLine({ sessionId: id, outcome: ended }))
  const { compaction, tokensBefore, tokensAfter, uncachedTokens } = ended
  printNotice(
    `Undone: the handoff at entry ${compaction}. The client's next request has about ` +
      `${grouped(tokensAfter)} tokens instead of ${grouped(tokensBefore)}, and that one request pays ` +
      `the full price for about ${grouped(uncachedTokens)} of them, which the provider has not cached. ` +
      'The proxy makes the next handoff only when the conversation no longer fits.',
  )
  return EXIT.done
}

async function requested(
  runtime: Runtime,
  session: Session,
  { mail, json, what }: { mail: MailNumber; json: true | undefined; what: string },
): Promise<number> {
  if (json) await writeOutput('-', jsonLine({ sessionId: session.id, mail }))
  else {
    const by = 'by the process that serves it; --wait reports the outcome'
    printNotice(`Requested: session ${session.id} ${what} ${by}.`)
  }
  await warnIfUnserved(runtime)
  return EXIT.done
}

async function outcomeOf(
  runtime: Runtime,
  session: Session,
  { mail, flags, doing }: { mail: MailNumber; flags: CompactFlags; doing: string },
): Promise<ControlEnd | null> {
  await warnIfUnserved(runtime)
  const progress = new ProgressLine(doing)
  const signal = AbortSignal.timeout(flags.timeout)
  const end = await session.controlOutcome(mail, signal).finally(() => progress.end())
  if (signal.aborted) {
    throw new FailedError(
      `Not done within ${flags.timeout / 1_000} s; the process that serves the session continues.`,
    )
  }
  return end
}

function reportOutcome(session: Session, made: CompactionView | null): number {
  if (made === null) {
    printNotice(`Session ${session.id} has nothing worth compacting yet.`)
    return EXIT.nothingToCut
  }
  if (made.state !== 'committed') {
    printNotice(`The compaction ended as ${made.state} (${made.reason}); the session is unchanged.`)
    return EXIT.failed
  }
  const { tokensBefore, tokensAfter } = made
  const sizes =
    tokensBefore === null || tokensAfter === null
      ? ''
      : `, ${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens`
  printNotice(`Compacted: a handoff replaces entries 1 to ${made.covers}${sizes}.`)
  if (made.warning !== null) printNotice(`note: ${made.warning}`)
  return EXIT.done
}

async function newest(session: Session): Promise<CompactionView | undefined> {
  return (await session.compactions({ limit: 1 }))?.[0]
}

async function preview(session: Session, flags: CompactFlags): Promise<number> {
  const { focus, json } = flags
  const progress = new ProgressLine('Writing the handoff')
  const signal = AbortSignal.timeout(flags.timeout)
  const result = await session
    .preview(focus === undefined ? {} : { focus }, signal)
    .finally(() => progress.end())
  if (json) await writeOutput('-', jsonLine(result))
  switch (result.kind) {
    case 'previewed':
      if (!json) await writeOutput('-', drawPreview(result))
      return EXIT.done
    case 'nothing-to-do':
      printNotice(`Session ${session.id} has nothing worth compacting yet.`)
      return EXIT.nothingToCut
    case 'failed':
      throw new FailedError(`No preview could be made: ${result.reason}. Nothing changed.`)
    default:
      return result satisfies never
  }
}

function drawPreview(result: {
  readonly covers: number
  readonly handoff: Handoff
  readonly tokensBefore: number
  readonly tokensAfter: number
}): string {
  const { covers, handoff, tokensBefore, tokensAfter } = result
  const { preserved, tasks, files, ledger, summary } = handoff
  const kept = [
    countText(preserved.length, 'message of the user', 'messages of the user'),
    countText(tasks.length, 'task'),
    countText(files.length, 'file'),
    countText(ledger.length, 'line of the ledger', 'lines of the ledger'),
  ]
  return [
    `${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens; this handoff would replace ` +
      `entries 1 to ${covers}, with ${kept.join(', ')}:`,
    '',
    printable(summary),
    '',
  ].join('\n')
}
