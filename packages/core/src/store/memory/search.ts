import type { SessionId } from '../../base/ids.ts'
import { lineOf, ownAfter } from '../lineage.ts'
import type { Search, SearchAnswer, SearchedScope } from '../queries.ts'
import { type Block, blockOf } from '../search/blocks.ts'
import { compareBytes } from '../search/bytes.ts'
import { type SearchedRange, search } from '../search/find.ts'
import { type IndexState, indexBatch, NO_INDEX } from '../search/index-state.ts'
import { packLists, rootBytes } from '../search/lists.ts'
import {
  type Answers,
  type EmbeddedEntries,
  type IndexLookup,
  perform,
  type Searched,
} from '../search/lookup.ts'
import {
  isWithin,
  renumbered,
  type SearchedStretch,
  searchedStretches,
  stretchWithin,
} from '../search/parts.ts'
import { NO_TOTALS, totalsWith } from '../search/sessions/totals.ts'
import type { Entry, SessionRow } from '../tables/rows.ts'
import type { MemoryTables } from './tables.ts'

/** The word index of one session, updated on each search. */
interface MemoryIndex {
  state: IndexState
  readonly lists: Map<string, number[]>
  readonly blocks: Block[]
  /** Entries as indexed: an erased entry is a different object. */
  readonly entries: Entry[]
}

export class MemorySearch {
  readonly #indexes = new Map<SessionId, MemoryIndex>()
  readonly #tables: MemoryTables

  constructor(tables: MemoryTables) {
    this.#tables = tables
  }

  search(query: Search): SearchAnswer {
    const { sessions } = this.#tables
    const ids = [...sessions.keys()]
    const numberOf = new Map(ids.map((id, at) => [id, at + 1]))
    const searched: Searched[] = []
    const add = (stretch: SearchedStretch) => {
      const { state } = this.#upToDate(stretch.keeper, stretch.after)
      const each = { ...stretch, n: numberOf.get(stretch.keeper) as number, index: state }
      searched.push(each)
      return each
    }
    const pagesOf = (root: string) => {
      const lists = ids.flatMap((id, at) => {
        const list = this.#indexes.get(id)?.lists.get(root)
        return list === undefined ? [] : [[at + 1, new Map([[root, list]])] as const]
      })
      return packLists(new Map(lists)).map(({ bytes }) => bytes)
    }
    const what = query.sessionId
    const isRange = typeof what === 'object' && !('length' in what) && query.meaning === undefined
    if (!isRange) for (const stretch of this.#stretches(what)) add(stretch)
    const from = isRange ? this.#range(what, ids) : [...searched]
    const steps = search(query, from, { stored: 0 })
    return perform(steps, (lookup: IndexLookup): Answers[keyof Answers] => {
      switch (lookup.want) {
        case 'pages':
          return lookup.keys.map((key) => pagesOf(rootIn(key)))
        case 'range':
          return lookup.ranges.map(({ from, to }) => {
            const roots = ids.flatMap((id) => [...(this.#indexes.get(id)?.lists.keys() ?? [])])
            return [...new Set(roots)].filter((root) => isBetween(root, from, to)).flatMap(pagesOf)
          })
        case 'sessions':
          return lookup.numbers.flatMap((n) => {
            const stretch = this.#stretchWithin(what as SearchedScope, ids[n - 1] as SessionId)
            return stretch === null ? [] : [add(stretch)]
          })
        case 'blocks':
          return lookup.sessions.map((session) => {
            return this.#indexes.get(searched[session]?.keeper as SessionId)?.blocks ?? []
          })
        case 'bodies':
          return lookup.of.map(({ session, number }) => {
            const id = searched[session]?.id as SessionId
            return this.#tables.entriesOf(id, number, number)[0]?.body ?? null
          })
        case 'vectors':
          return lookup.of.map((session) => this.#vectorsOf(searched[session]?.keeper, lookup))
        default:
          return lookup.ranges.map(({ session, from, to }) =>
            this.#tables.entriesOf(searched[session]?.id as SessionId, from, to),
          )
      }
    })
  }

  #stretches(what: Search['sessionId']): readonly SearchedStretch[] {
    const { sessions } = this.#tables
    const rows =
      typeof what === 'object' && !('length' in what)
        ? [...sessions.values()].filter((row) => isWithin(what, row))
        : [what].flat().flatMap((id) => sessions.get(id) ?? [])
    return searchedStretches(rows.map((row) => this.#lineOf(row)))
  }

  #lineOf(row: SessionRow): readonly [SessionRow, ...SessionRow[]] {
    return lineOf(row, (id) => this.#tables.session(id)) as [SessionRow, ...SessionRow[]]
  }

  #stretchWithin(what: SearchedScope, id: SessionId): SearchedStretch | null {
    const row = this.#tables.session(id) as SessionRow
    return stretchWithin(what, row, () =>
      this.#tables.related(row.root ?? row.id).map((each) => this.#lineOf(each)),
    )
  }

  #range(what: SearchedScope, ids: readonly SessionId[]): SearchedRange {
    const rows = ids.map((id) => this.#tables.session(id) as SessionRow)
    // Whatever its state: forks read what a purged session keeps for them.
    const own = rows.filter((row) => isWithin(what, { ...row, state: 'open' }))
    const lines = own.flatMap((row) => this.#lineOf(row))
    const wanted = new Set([...own, ...lines].map(({ id }) => ids.indexOf(id) + 1))
    const totals = [...wanted].reduce((sum, n) => {
      const row = rows[n - 1] as SessionRow
      return totalsWith(sum, this.#upToDate(row.id, ownAfter(row)).state)
    }, NO_TOTALS)
    return { wants: (n) => wanted.has(n), totals, behind: [] }
  }

  #vectorsOf(
    id: SessionId | undefined,
    { model, dimension }: { readonly model: string; readonly dimension: number },
  ): EmbeddedEntries {
    const row = id === undefined ? undefined : this.#tables.embedded(id)
    if (row?.model !== model || row.dimension !== dimension) return { upto: 0, entries: [] }
    const vectors = [...(this.#tables.vectors.get(row.sessionId)?.values() ?? [])]
    return { upto: row.upto, entries: vectors.sort((a, b) => a.number - b.number) }
  }

  #upToDate(id: SessionId, after: number): MemoryIndex {
    const entries = this.#tables.ownEntries(id)
    const known = this.#indexes.get(id)
    const isSame = known?.entries.every((entry, at) => entry === entries[at]) ?? false
    const index: MemoryIndex =
      known !== undefined && isSame
        ? known
        : { state: NO_INDEX, lists: new Map(), blocks: [], entries: [] }
    this.#indexes.set(id, index)
    const fresh = entries.slice(index.entries.length)
    if (fresh.length === 0) return index
    const last = index.blocks[blockOf(index.entries.length + 1)] ?? null
    const { state, lists, blocks } = indexBatch(
      index.state,
      last,
      fresh.map((entry) => renumbered(entry, after)),
    )
    for (const [root, passages] of lists) {
      const list = index.lists.get(root)
      if (list === undefined) index.lists.set(root, [...passages])
      else for (const passage of passages) list.push(passage)
    }
    for (const [number, block] of blocks) index.blocks[number] = block
    index.entries.push(...fresh)
    index.state = state
    return index
  }
}

const decoder = new TextDecoder()

/** The root of a key, which ends with a zero and a session. */
function rootIn(key: Uint8Array): string {
  return decoder.decode(key.subarray(0, key.indexOf(0)))
}

function isBetween(root: string, from: Uint8Array, to: Uint8Array): boolean {
  const key = Uint8Array.from([...rootBytes(root), 0])
  return compareBytes(key, from) >= 0 && compareBytes(key, to) < 0
}
