import { randomUUID } from 'node:crypto'
import type { Handoff } from '#core/message/handoff/handoff'
import { FailedError } from '../../../host/errors.ts'
import type { CompactionView, Runtime, Session } from '../../../runtime/runtime.ts'
import { refusalReason } from '../../../runtime/sessions/refusal-text.ts'
import { COMMAND_SOURCE, requireAccepted, warnIfUnserved } from '../../admission.ts'
import { EXIT } from '../../exit.ts'
import { requireNamed } from '../../named-session.ts'
import { countText, grouped } from '../../terminal/format.ts'
import { writeOutput } from '../../terminal/output.ts'
import { printable } from '../../terminal/printable.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'
import type { CompactFlags } from './options.ts'

/** `compact --session`: requests a compaction, or previews its handoff. */
export async function compactSession(flags: CompactFlags): Promise<number> {
  const { withStoreRuntime, withAgentRuntime } = await import('../../../host/with-runtime.ts')
  // A preview asks the agent's own model; a request only goes into the mailbox.
  const open = flags.preview ? withAgentRuntime : withStoreRuntime
  return await open(flags, async ({ runtime, store }) => {
    const session = runtime.session(await requireNamed(store, flags.session ?? ''))
    return flags.preview ? await preview(session, flags) : await ask(runtime, session, flags)
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
    if (json) await writeOutput('-', jsonLine({ sessionId: session.id, mail }))
    else {
      const by = 'by the process that serves it; --wait reports the outcome'
      printNotice(`Requested: session ${session.id} will be compacted ${by}.`)
    }
    await warnIfUnserved(runtime)
    return EXIT.done
  }
  await warnIfUnserved(runtime)
  const progress = new ProgressLine('Compacting')
  const signal = AbortSignal.timeout(flags.timeout)
  const end = await session.controlOutcome(mail, signal).finally(() => progress.end())
  if (signal.aborted) {
    throw new FailedError(
      `Not done within ${flags.timeout / 1_000} s; the process that serves the session continues.`,
    )
  }
  const after = await newest(session)
  const made = after?.operationId === before?.operationId ? null : (after ?? null)
  if (json) await writeOutput('-', jsonLine({ sessionId: session.id, mail, compaction: made }))
  if (made === null && end?.kind === 'turned-down' && end.why !== 'nothing-to-compact') {
    throw new FailedError(`Not compacted: ${refusalReason(end)}.`)
  }
  return reportOutcome(session, made)
}

function reportOutcome(session: Session, made: CompactionView | null): number {
  if (made === null) {
    printNotice(`Session ${session.id} has nothing to compact yet.`)
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
      printNotice(`Session ${session.id} has nothing to compact yet.`)
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
