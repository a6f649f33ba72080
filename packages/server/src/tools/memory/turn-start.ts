import { entryNumber } from '#core/base/ids'
import type { Reads } from '#core/store/contract'
import type { Entry } from '#core/store/tables/rows'
import type { ToolCall } from '../tool.ts'

const READ_MAX = 500

/** The number of the first entry of the turn that made this call, as far as one page shows. */
export async function readTurnStart(
  store: Pick<Reads, 'readEntries'>,
  { sessionId, entry, turn }: Pick<ToolCall, 'sessionId' | 'entry' | 'turn'>,
): Promise<number> {
  const from = Math.max(1, entry - READ_MAX + 1)
  const range = { sessionId, from: entryNumber(from), to: entryNumber(entry) }
  const page = await store.readEntries(range)
  const last = page.findLast((each) => isOfEarlierTurn(each, turn))
  return last === undefined ? from : last.number + 1
}

function isOfEarlierTurn(entry: Entry, turn: number): boolean {
  return (entry.kind === 'assistant' || entry.kind === 'turn') && entry.meta.turn < turn
}
