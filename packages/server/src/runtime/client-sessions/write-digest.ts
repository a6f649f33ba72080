import { type EntryNumber, entryNumber } from '#core/base/ids'
import { isFinalReply } from '#core/compaction/layout'
import { redact } from '#core/compaction/redact/redact'
import type { Handoff } from '#core/message/handoff/handoff'
import { textOf } from '#core/message/text'
import { buildContext, pieceEntries, visiblePieces } from '#core/session/context/build'
import type { ContextPiece } from '#core/session/context/piece'
import { type HandoffReply, handoffWriter } from '#core/session/handoff'
import { SESSION_SETTINGS } from '#core/session/settings'
import type { ContextEntries } from '#core/store/queries'
import type { Entry, Limits, OperationRow } from '#core/store/tables/rows'
import { messageCounter } from '#core/tokens/count'
import { estimateText } from '#core/tokens/estimate'

/** The source of a handoff: the complete entries on the client's path. */
export interface HandoffOrder {
  readonly entries: readonly Entry[]
  /** The last covered entry. */
  readonly covers: number
  readonly upto: EntryNumber
  readonly limits: Limits
  /** The client requires a handoff, even one that is not smaller than the part that it covers. */
  readonly isWanted?: true
}

const counters = {
  countTokens: (text: string) => estimateText(text, 'generic'),
  countMessage: messageCounter('generic'),
}

/**
 * Always uses the original messages and never an earlier handoff, so that no summary is made from a
 * summary.
 */
export async function writeClientDigest(
  { entries, covers, upto, limits, isWanted }: HandoffOrder,
  tools: Parameters<typeof handoffWriter>[1] = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<HandoffReply> {
  const session = { limits } as ContextEntries['session']
  const none = entryNumber(0)
  const source = { session, effective: none, covers: none, limits, entries }
  const context = buildContext(source, limits, upto)
  const covered = context.pieces.filter(({ number }) => number <= covers)
  const cut = visiblePieces({ ...context, pieces: covered }).length
  const operation = { trigger: 'soft', covers } as unknown as OperationRow
  const writer = handoffWriter(counters, tools)
  const shown = visiblePieces(context)
  const messages = shown.map(({ message }) => message)
  const numbers = shown.map(pieceEntries)
  const reply = await writer.write(
    {
      ...{ agent: 'client', operation, focus: null, messages, cut, open: [], entries: numbers },
      ...{ limits, settings: SESSION_SETTINGS },
    },
    signal,
  )
  if (reply.kind === 'written' || isWanted !== true) return reply
  const handoff = plainHandoff(shown.slice(0, cut), covers)
  return { kind: 'written', handoff, tokens: counters.countMessage({ role: 'handoff', handoff }) }
}

/** A short history in full: the user's messages, and the rest as text. */
function plainHandoff(pieces: readonly ContextPiece[], covers: number): Handoff {
  const lines = pieces.flatMap(({ message }) =>
    message.role === 'assistant' || message.role === 'tool'
      ? [`${message.role}: ${textOf(message).slice(0, PLAIN_CHARACTERS_MAX)}`]
      : [],
  )
  const replied = pieces.findLastIndex(({ message }) => isFinalReply(message))
  const preserved = pieces.flatMap(({ message, number }, index) => {
    const state = index < replied ? ('answered' as const) : ('open' as const)
    return message.role === 'user' ? [{ message, number, state }] : []
  })
  return {
    ...{ version: 1, by: 'digest', covers, kept: 0, compactions: 1 },
    ...{ preserved, tasks: [], files: [], ledger: [], summary: redact(lines.join('\n')) },
  }
}

const PLAIN_CHARACTERS_MAX = 4_000
