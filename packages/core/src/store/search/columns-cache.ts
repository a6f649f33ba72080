import type { SessionId } from '../../base/ids.ts'
import { BLOCK_ENTRIES, type Block, blockOf } from './blocks.ts'
import type { IndexState } from './index-state.ts'
import { lookUp, type SearchSteps } from './lookup.ts'
import { PassageColumns } from './passage-table.ts'

/**
 * Columns of sessions that were searched before, so that the next search reads only blocks added
 * since. Evicts the least recently used. Entries never change, they are only erased: equal numbers
 * of entries, passages and erased passages mean equal columns.
 */
const BYTES_MAX = 32 * 1024 * 1024

interface Kept {
  readonly columns: PassageColumns
  readonly upto: number
  readonly erased: number
  /** The size when stored: a search may have added to them since. */
  readonly bytes: number
}

export class ColumnsCache {
  readonly #kept = new Map<SessionId, Kept>()
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The columns of the indexed entries; the caller may add entries that are not indexed yet. */
  *columnsOf(id: SessionId, session: number, index: IndexState): SearchSteps<PassageColumns> {
    const known = this.#take(id)
    const columns =
      (known && (yield* grown(known, session, index))) ?? (yield* built(session, index))
    const { upto, slots, live } = index
    this.#keep(id, { columns, upto, erased: slots - live, bytes: columns.bytes })
    return columns
  }

  #take(id: SessionId): Kept | undefined {
    const known = this.#kept.get(id)
    if (known === undefined) return undefined
    this.#kept.delete(id)
    this.#bytes -= known.bytes
    return known
  }

  #keep(id: SessionId, kept: Kept): void {
    // Another search of the same session may have stored its columns meanwhile.
    this.#take(id)
    this.#kept.set(id, kept)
    this.#bytes += kept.bytes
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) break
      this.#take(oldest)
    }
  }
}

/** Extends cached columns with blocks indexed since; null if they no longer match. */
function* grown(
  { columns, upto, erased }: Kept,
  session: number,
  index: IndexState,
): SearchSteps<PassageColumns | null> {
  if (index.upto < upto || index.slots - index.live !== erased) return null
  const first = blockOf(upto + 1)
  const blocks = index.upto > upto ? yield* read(session, first) : []
  columns.cutTo(blocks.length > 0 ? first * BLOCK_ENTRIES : upto)
  columns.add(blocks)
  // An index rebuilt after an erasure has fewer passages for the same entries.
  return columns.slots === index.slots ? columns : null
}

function* built(session: number, index: IndexState): SearchSteps<PassageColumns> {
  const columns = new PassageColumns()
  if (index.upto > 0) columns.addIndexed(yield* read(session, 0), index)
  return columns
}

function* read(session: number, from: number): SearchSteps<readonly Block[]> {
  const [blocks = []] = yield* lookUp({ want: 'blocks', sessions: [session], from })
  return blocks
}
