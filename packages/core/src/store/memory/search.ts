import type { SessionId } from '../../base/ids.ts'
import { lineOf } from '../lineage.ts'
import type { Search, SearchAnswer } from '../queries.ts'
import type { Entry } from '../rows.ts'
import { type Block, blockOf } from '../search/blocks.ts'
import { search } from '../search/find.ts'
import { type IndexState, indexBatch, NO_INDEX } from '../search/index-state.ts'
import { packLists } from '../search/lists.ts'
import { type Answers, type EmbeddedEntries, type IndexLookup, perform } from '../search/lookup.ts'
import { renumbered, searchedStretches } from '../search/parts.ts'
import type { MemoryTables } from './tables.ts'

/** The word index of one session, updated on each search. */
interface MemoryIndex {
  state: IndexState
  readonly lists: Map<string, number[]>
  readonly blocks: Block[]
  /** Entries as indexed: an erased entry is a different object. */
  readonly entries: Entry[]
}

const decoder = new TextDecoder()

export class MemorySearch {
  readonly #indexes = new Map<SessionId, MemoryIndex>()
  readonly #tables: MemoryTables

  constructor(tables: MemoryTables) {
    this.#tables = tables
  }

  search(query: Search): SearchAnswer {
    const lines = [query.sessionId].flat().flatMap((id) => {
      const session = this.#tables.session(id)
      return session === undefined ? [] : [lineOf(session, (each) => this.#tables.session(each))]
    })
    const stretches = searchedStretches(lines)
    const indexes = stretches.map(({ keeper, after }) => this.#upToDate(keeper, after))
    const sessions = stretches.map((stretch, at) => {
      const { state } = indexes[at] as MemoryIndex
      return { ...stretch, index: state }
    })
    const pagesOf = (session: number, has: (root: string) => boolean) => {
      const { lists } = indexes[session] as MemoryIndex
      const chosen = [...lists].filter(([root]) => has(root))
      return packLists(new Map(chosen)).map(({ bytes }) => bytes)
    }
    return perform(search(query, sessions), (lookup: IndexLookup): Answers[keyof Answers] => {
      switch (lookup.want) {
        case 'pages':
          return lookup.of.map(({ session }) =>
            lookup.roots.map((bytes) => {
              const root = decoder.decode(bytes)
              const list = indexes[session]?.lists.get(root)
              return list === undefined
                ? null
                : (packLists(new Map([[root, list]]))[0]?.bytes ?? null)
            }),
          )
        case 'range': {
          const letter = decoder.decode(lookup.from)
          return lookup.of.flatMap(({ session }) =>
            pagesOf(session, (root) => root.startsWith(letter)),
          )
        }
        case 'blocks':
          return lookup.sessions.map((session) => indexes[session]?.blocks ?? [])
        case 'bodies':
          return lookup.of.map(({ session, number }) => {
            const id = stretches[session]?.id as SessionId
            return this.#tables.entriesOf(id, number, number)[0]?.body ?? null
          })
        case 'vectors':
          return lookup.of.map((session) => this.#vectorsOf(stretches[session]?.keeper, lookup))
        default:
          return lookup.ranges.map(({ session, from, to }) =>
            this.#tables.entriesOf(stretches[session]?.id as SessionId, from, to),
          )
      }
    })
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
    const run = { id: 1, entries: entries.length, from: 0, to: state.slots, into: null }
    index.state = { ...state, runs: state.slots > 0 ? [run] : [] }
    return index
  }
}
