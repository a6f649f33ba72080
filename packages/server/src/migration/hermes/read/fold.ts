import { FirstSaid, type FoldRow, FoldRows } from './fold-rows.ts'

export type { FoldRow } from './fold-rows.ts'

/**
 * Folds a chain of sessions, root first, into one conversation: every row once, in the order in
 * which it was written. Copies made by compaction are recognized and merged with their originals;
 * rows delivered to a session after its closing, and rows of a fork's branches, are sorted in by
 * time; handoffs become compactions, except that those of branches replace nothing; rows that the
 * user took back are kept separately.
 *
 * Always true: every input row is in exactly one place of the result.
 */
export interface FoldSession {
  readonly id: string
  /** The session that it continues, which comes before it. */
  readonly parentId: string | null
  readonly closedAt: number | null
  /** On a branch of a fork that is not continued. */
  readonly isBranch?: boolean
  readonly rowCount: number
  /** In id order. */
  readonly rows: Iterable<FoldRow>
}

export interface Folded {
  /** In order; generated lazily. */
  entries(): Iterable<FoldedEntry>
  copies(): Iterable<Copy>
  rewound(): Iterable<number>
  readonly rowsIn: number
  readonly copyCount: number
}

export interface Copy {
  readonly rowId: number
  readonly ofRowId: number
}

export type FoldedEntry =
  | {
      readonly kind: 'message'
      readonly rowId: number
      readonly isRestored: boolean
      /** A compaction refers to it. */
      readonly isKept: boolean
    }
  /** Replaces everything before it, except the rows that stayed in the context. */
  | {
      readonly kind: 'compaction'
      readonly rowId: number
      readonly keptRowIds: readonly number[]
      /** The first of the newest rows that it kept; null: it kept none of the newest. */
      readonly keptFrom: number | null
    }
  /** A handoff on a branch. */
  | { readonly kind: 'beside'; readonly rowId: number }

/** Copies without their old times were written within this time of their handoff. */
const TOGETHER_SECONDS = 5
/** How many of the first messages a compaction may keep before its handoff. */
const HEAD_MAX = 20
const NONE = -1

export function foldConversation(sessions: readonly FoldSession[]): Folded {
  const length = sessions.reduce((sum, { rowCount }) => sum + rowCount, 0)
  const rows = new FoldRows(length)
  for (const session of sessions) for (const row of session.rows) rows.add(row)
  return new Folding(rows, sessions).run()
}

interface Handoff {
  /** Indexes of originals. */
  readonly kept: number[]
  /** The end of its session's rows before it. */
  readonly ownEnd: number
  readonly session: ForkPoint
  /** Set after all rows were read. */
  keptFrom: number | null
}

/** One session: its range in the list of rows, with copies replaced by their originals. */
interface ForkPoint {
  readonly parent: ForkPoint | undefined
  readonly ownStart: number
  ownEnd: number
}

/** Rows written together: copies of a beginning, a handoff, copies of an end. */
interface Block {
  readonly start: number
  readonly handoff: number
  readonly end: number
}

class Folding {
  readonly #rows: FoldRows
  readonly #sessions: readonly FoldSession[]
  readonly #firsts: FirstSaid
  /** For each row, the row that it copies. */
  readonly #copyOf: Int32Array
  #own: Int32Array<ArrayBuffer>
  #ownLive: Uint8Array<ArrayBuffer>
  readonly #placed: Int32Array
  readonly #handoffs = new Map<number, Handoff>()
  readonly #besides = new Set<number>()
  readonly #restored = new Set<number>()
  /** Rows to be sorted in by time, each with the results directly after it. */
  readonly #late: number[][] = []
  #ownCount = 0
  #placedCount = 0
  #copyCount = 0

  constructor(rows: FoldRows, sessions: readonly FoldSession[]) {
    this.#rows = rows
    this.#sessions = sessions
    this.#firsts = new FirstSaid(rows)
    this.#copyOf = new Int32Array(rows.length).fill(NONE)
    this.#own = new Int32Array(rows.length)
    this.#ownLive = new Uint8Array(rows.length)
    this.#placed = new Int32Array(rows.length)
  }

  run(): Folded {
    this.#findSuperseded()
    const points = new Map<string, ForkPoint>()
    let from = 0
    for (const session of this.#sessions) {
      const to = from + session.rowCount
      const parent = points.get(session.parentId ?? '')
      points.set(session.id, this.#take(session, from, to, parent))
      from = to
    }
    const order = this.#inOrder()
    for (const handoff of this.#handoffs.values()) {
      handoff.keptFrom = this.#keptFrom(handoff)
      for (const index of handoff.kept) this.#rows.keep(index)
    }
    // Frees the memory at once, because writing the entries needs its own.
    this.#own = new Int32Array(this.#own.buffer.transfer(0))
    this.#ownLive = new Uint8Array(this.#ownLive.buffer.transfer(0))
    this.#rows.forgetWords()
    this.#firsts.close()
    return {
      entries: () => this.#entries(order),
      copies: () => this.#copies(),
      rewound: () => this.#rewound(),
      rowsIn: this.#rows.length,
      copyCount: this.#copyCount,
    }
  }

  #take(session: FoldSession, from: number, to: number, parent: ForkPoint | undefined): ForkPoint {
    const rows = this.#rows
    const point: ForkPoint = { parent, ownStart: this.#ownCount, ownEnd: this.#ownCount }
    const carried = new Map<number, number>()
    const blocks = this.#blocksOf(from, to, parent !== undefined)
    let handoff: Handoff | null = null
    // In the context before the next handoff, which follows them and does not replace them.
    let besideStart = this.#ownCount
    let wasLate = false
    for (let index = from; index < to; index++) {
      const block = blocks.get(index)
      if (block !== undefined)
        this.#matchBlock(block, index === from ? (parent ?? point) : point, carried)
      if (rows.state(index) === 'rewound') continue
      const isLive = rows.state(index) === 'live'
      const original = carried.get(index) ?? this.#firsts.find(index)
      if (original !== NONE) {
        this.#copyOf[index] = original
        this.#copyCount += 1
        handoff?.kept.push(original)
        // The next session may copy it again; that is still a copy of the original.
        this.#say(point, original, isLive)
        continue
      }
      this.#firsts.add(index)
      const isHandoff = rows.isHandoff(index)
      const isLate = session.closedAt !== null && rows.time(index) > session.closedAt
      if (isHandoff) {
        const kept = this.#liveBetween(besideStart, this.#ownCount)
        handoff = { kept, ownEnd: point.ownEnd, session: point, keptFrom: null }
        besideStart = this.#ownCount
        if (session.isBranch) this.#besides.add(index)
        else this.#handoffs.set(index, handoff)
      }
      if (isLate && !isHandoff) this.#restored.add(index)
      if (isLate || session.isBranch) {
        if (wasLate && rows.isResult(index)) this.#late.at(-1)?.push(index)
        else this.#late.push([index])
        wasLate = true
      } else {
        this.#placed[this.#placedCount++] = index
        wasLate = false
      }
      // Rows after new content were not kept by the compaction.
      if (!isHandoff) handoff = null
      if (!isLate) this.#say(point, index, isLive && !isHandoff)
    }
    return point
  }

  #say(point: ForkPoint, index: number, isLive: boolean): void {
    this.#ownLive[this.#ownCount] = isLive ? 1 : 0
    this.#own[this.#ownCount++] = index
    point.ownEnd = this.#ownCount
  }

  #liveBetween(start: number, end: number): number[] {
    const live: number[] = []
    for (let at = start; at < end; at++) {
      if (this.#ownLive[at] === 1) live.push(this.#own[at] ?? NONE)
    }
    return live
  }

  /**
   * Versions that give copies the time of the copying write a block at once: the first rows of what
   * is continued, the handoff, and the newest rows. A continuation begins with its block; a
   * compaction in place writes it after the rows it replaces, a microsecond apart.
   */
  #blocksOf(from: number, to: number, isContinuation: boolean): ReadonlyMap<number, Block> {
    const rows = this.#rows
    const blocks = new Map<number, Block>()
    for (let handoff = from; handoff < to; handoff++) {
      if (!rows.isHandoff(handoff)) continue
      const at = rows.time(handoff)
      const isBeside = (index: number) => isStep(rows.time(index) - rows.time(index - 1))
      const isTogether = (index: number) => Math.abs(rows.time(index) - at) <= TOGETHER_SECONDS
      let start = handoff
      let end = handoff + 1
      const first = Math.max(from, handoff - HEAD_MAX)
      if (isContinuation && first === from && isTogether(from)) {
        start = from
        while (end < to && isTogether(end)) end += 1
      } else {
        while (start > first && isBeside(start)) start -= 1
        while (end < to && isBeside(end)) end += 1
      }
      blocks.set(start, { start, handoff, end })
      // No block begins inside another.
      handoff = end - 1
    }
    return blocks
  }

  /** The copies in a block: a beginning of what is continued, and its longest end. */
  #matchBlock({ start, handoff, end }: Block, from: ForkPoint, found: Map<number, number>): void {
    const rows = this.#rows
    const own = (at: number) => this.#own[at] ?? NONE
    for (let at = start; at < handoff; at++) {
      const original = from.ownStart + at - start
      if (original >= from.ownEnd || rows.said(own(original)) !== rows.said(at)) return
    }
    for (let at = start; at < handoff; at++) found.set(at, own(from.ownStart + at - start))
    const young = end - handoff - 1
    const tailStart = Math.max(from.ownStart, from.ownEnd - young)
    const beginning = Array.from({ length: young }, (_, at) => rows.said(handoff + 1 + at))
    const tail = young === 0 ? [] : [...this.#own.subarray(tailStart, from.ownEnd)]
    const length = overlap(
      beginning,
      tail.map((index) => rows.said(index)),
    )
    for (let at = 0; at < length; at++) {
      const original = tail[tail.length - length + at]
      if (original !== undefined) found.set(handoff + 1 + at, original)
    }
  }

  /**
   * Later versions mark the originals of rows that a compaction in place keeps as taken back, so
   * that a search finds only the copies. A row that the user really took back has no copy.
   */
  #findSuperseded(): void {
    const rows = this.#rows
    let hasRewound = false
    for (let index = 0; index < rows.length && !hasRewound; index++) {
      hasRewound = rows.state(index) === 'rewound'
    }
    if (!hasRewound) return
    const newest = new FirstSaid(rows)
    for (let index = 0; index < rows.length; index++) {
      if (rows.state(index) !== 'rewound') newest.add(index)
    }
    let from = 0
    for (const { rowCount } of this.#sessions) {
      const to = from + rowCount
      for (let index = from; index < to; index++) {
        const copy = rows.state(index) === 'rewound' ? newest.find(index) : NONE
        if (copy > index && copy < to) rows.supersede(index)
      }
      from = to
    }
    newest.close()
  }

  /** Puts each late row before the first later one, but never between a call and its results. */
  #inOrder(): Int32Array {
    const placed = this.#placed.subarray(0, this.#placedCount)
    if (this.#late.length === 0) return placed
    const rows = this.#rows
    const time = (group: readonly number[]) => rows.time(group[0] ?? 0) || 0
    const waiting = this.#late.toSorted((one, other) => time(one) - time(other))
    const order = new Int32Array(rows.length)
    let count = 0
    let next = 0
    const put = (index: number) => {
      order[count++] = index
    }
    for (const index of placed) {
      for (let group = waiting[next]; group !== undefined; group = waiting[next]) {
        if (!(rows.time(index) > time(group)) || rows.isResult(index)) break
        for (const one of group) put(one)
        next += 1
      }
      put(index)
    }
    for (const group of waiting.slice(next)) for (const one of group) put(one)
    return order.subarray(0, count)
  }

  *#entries(order: Int32Array): Generator<FoldedEntry> {
    for (const index of order) {
      const rowId = this.#rows.id(index)
      const handoff = this.#handoffs.get(index)
      if (this.#besides.has(index)) yield { kind: 'beside', rowId }
      else if (handoff !== undefined) {
        const keptRowIds = handoff.kept.map((one) => this.#rows.id(one))
        yield { kind: 'compaction', rowId, keptRowIds, keptFrom: handoff.keptFrom }
      } else {
        const isRestored = this.#restored.has(index)
        yield { kind: 'message', rowId, isRestored, isKept: this.#rows.isKept(index) }
      }
    }
  }

  /** Walks back from the end of the rows before it while they were kept. */
  #keptFrom({ kept, ownEnd, session }: Handoff): number | null {
    if (kept.length === 0) return null
    const isKept = new Set(kept)
    let first = NONE
    const walk = (start: number, end: number) => {
      for (let at = end - 1; at >= start; at--) {
        const index = this.#own[at] ?? NONE
        // A handoff that was kept follows the rows that it kept itself.
        if (this.#rows.isHandoff(index)) continue
        if (!isKept.has(index)) return false
        first = index
      }
      return true
    }
    const { parent, ownStart } = session
    if (walk(ownStart, ownEnd) && parent !== undefined) walk(parent.ownStart, parent.ownEnd)
    return first === NONE ? null : this.#rows.id(first)
  }

  *#copies(): Generator<Copy> {
    for (const [index, original] of this.#copyOf.entries()) {
      if (original === NONE) continue
      yield { rowId: this.#rows.id(index), ofRowId: this.#rows.id(original) }
    }
  }

  *#rewound(): Generator<number> {
    for (let index = 0; index < this.#rows.length; index++) {
      if (this.#rows.state(index) === 'rewound') yield this.#rows.id(index)
    }
  }
}

/** One clock reading, plus a microsecond for each row. */
function isStep(seconds: number): boolean {
  return seconds > 0 && seconds < 3e-6
}

/** The longest prefix of one that is a suffix of the other, in one pass over both. */
function overlap(beginning: readonly number[], ending: readonly number[]): number {
  const failure: number[] = [0]
  const advance = (matched: number, next: number | undefined) => {
    let length = matched
    while (length > 0 && beginning[length] !== next) length = failure[length - 1] ?? 0
    return beginning[length] === next && next !== undefined ? length + 1 : 0
  }
  for (let index = 1; index < beginning.length; index++) {
    failure.push(advance(failure[index - 1] ?? 0, beginning[index]))
  }
  return ending.reduce((matched, next) => advance(matched, next), 0)
}
