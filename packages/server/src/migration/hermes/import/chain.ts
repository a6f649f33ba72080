import { entryNumber } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import type { AdoptedEntry } from '#core/store/adoption'
import { TITLE_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import type { Limits } from '#core/store/tables/rows'
import { messageCounter } from '#core/tokens/count'
import { estimateText } from '#core/tokens/estimate'
import { familyOf } from '#core/tokens/family'
import type { ConversationReport } from '../../import-report.ts'
import { type ImportObstacle, SessionImport, type SessionImporter } from '../../session-importer.ts'
import { isBefore } from '../diagnose/survey.ts'
import { type Folded, type FoldedEntry, foldConversation } from '../read/fold.ts'
import type { RawRow, RawRows } from '../read/raw-rows.ts'
import type { HermesSession } from '../read/rows.ts'
import { CallNames } from './call-names.ts'
import type { Chain } from './chains.ts'
import { asideOf, type CountMessage, entryOf, handoffOf } from './entry.ts'
import { addKinds, kindsOfEntry, kindsOfRow, NO_KINDS } from './kinds.ts'
import type { EntryPositions } from './positions.ts'

/** Imports one Hermes conversation, a chain of sessions, as one session. */
export interface ChainRequest {
  readonly importer: SessionImporter
  readonly store: Store | null
  readonly agent: string
  readonly limits: Limits
  readonly rows: RawRows
  readonly rowIds: (sessionId: string) => Float64Array
  /** System prompts by session. */
  readonly prompts: (sessionId: string) => string | null
  /** The columns of a session that an export back to Hermes needs. */
  readonly sessionRow: (sessionId: string) => JsonObject
  /** Our own export: its sessions must not be taken for those that they were exported from. */
  readonly isExport: boolean
  readonly onRow: () => void
}

const PRESERVED_MAX = 20

export async function importChain(
  chain: Chain,
  request: ChainRequest,
): Promise<ConversationReport> {
  const { importer, agent, limits, rows, rowIds } = request
  const { rootId, sessionId, links } = chain
  const ids = links.map(({ id }) => id)
  const sessions = links.map(({ session }) => session)
  const title = sessions.findLast((one) => one?.title)?.title?.slice(0, TITLE_MAX) ?? null
  const model = sessions.findLast((one) => one?.model)?.model ?? undefined
  const system = ids.toReversed().map(request.prompts).find(Boolean) ?? undefined
  const wentOnAt = new Map<string, number>()
  for (const one of sessions) {
    const { parentId, startedAt } = one ?? { parentId: null, startedAt: null }
    if (parentId === null || startedAt === null) continue
    wentOnAt.set(parentId, Math.min(startedAt, wentOnAt.get(parentId) ?? startedAt))
  }
  const folded = foldConversation(
    links.map(({ id, session, isBranch }) => ({
      ...{ id, isBranch, parentId: session?.parentId ?? null },
      closedAt:
        session?.endReason === 'compression'
          ? closingOf(id, session, request)
          : (wentOnAt.get(id) ?? null),
      rowCount: rowIds(id).length,
      rows: factsOf(rowIds(id), rows),
    })),
  )
  const startedAt = sessions[0]?.startedAt ?? firstTime(links[0]?.id ?? '', request) ?? 0
  const family = familyOf(model)
  const hand = await importer.take({
    ...{ id: sessionId, agent, limits, rows: folded.rowsIn },
    createdAt: Math.max(0, Math.floor(startedAt * 1_000)) + (request.isExport ? 1 : 0),
    settings: {
      ...(system !== undefined && { system }),
      importedFrom: { format: 'hermes', id: rootId, ids, session: sessionOf(ids, request) },
      tokens: system === undefined ? 0 : estimateText(system, family),
    },
  })
  const about = { rootId, sessionId, ids, title }
  if (!(hand instanceof SessionImport)) return notImported(about, hand, folded.rowsIn)
  const writing = new Writing(hand, request, messageCounter(family))
  const standing = standingOf(folded, hand.positions)
  let { inEffect } = standing
  if (standing.isLeft) await writing.changeSides(standing, sessionId)
  for (const entry of folded.entries()) {
    if (entry.rowId === inEffect) inEffect = null
    const isLate = entry.kind === 'compaction' && inEffect !== null
    if (entry.kind === 'beside' || isLate) await writing.setBeside(entry.rowId)
    else await writing.write(entry)
  }
  for (const row of folded.rewound()) await writing.setAside(row)
  await hand.close()
  if (title !== null && request.store !== null && hand.state === 'new') {
    await request.store.setTitle({ sessionId, title })
  }
  return writing.report(about, folded)
}

type CompactionEntry = FoldedEntry & { readonly kind: 'compaction' }

interface Standing {
  /** The newest handoff that was brought before. */
  readonly inEffect: number | null
  /** Hermes has left the side of a fork that it continued at the last import. */
  readonly isLeft: boolean
  /** The handoff with which Hermes continues; kept from the first entry that follows it. */
  readonly newest: CompactionEntry | null
}

function standingOf(folded: Folded, positions: EntryPositions): Standing {
  let inEffect: number | null = null
  let newest: CompactionEntry | null = null
  let isBeside = false
  let keptFrom: number | null = null
  let first = Number.POSITIVE_INFINITY
  for (const entry of folded.entries()) {
    const number = positions.entryOf(entry.rowId)
    if (entry.kind === 'compaction') {
      if (number !== undefined) inEffect = entry.rowId
      newest = entry
      keptFrom = entry.keptFrom
      first =
        (keptFrom === null ? undefined : positions.entryOf(keptFrom)) ?? Number.POSITIVE_INFINITY
    } else if (entry.kind === 'beside') isBeside ||= entry.rowId === positions.handoff?.row
    else if (number !== undefined && number < first) {
      first = number
      keptFrom = entry.rowId
    }
  }
  // A handoff that arrives now takes effect by itself.
  const isLeft = isBeside && inEffect === (newest?.rowId ?? null)
  return { inEffect, isLeft, newest: newest && { ...newest, keptFrom } }
}

function sessionOf(ids: readonly string[], { sessionRow }: ChainRequest): JsonObject {
  const { started_at: startedAt } = sessionRow(ids[0] ?? '')
  return {
    ...sessionRow(ids.at(-1) ?? ''),
    ...(startedAt !== undefined && { started_at: startedAt }),
  }
}

function* factsOf(ids: Float64Array, rows: RawRows) {
  for (const id of ids) yield rows.factsOf(id)
}

function firstTime(id: string, { rows, rowIds }: ChainRequest): number | null {
  const [row] = rowIds(id)
  return row === undefined ? null : rows.factsOf(row).at
}

/** Null: unknown. */
function closingOf(
  id: string,
  { startedAt, endedAt }: Pick<HermesSession, 'startedAt' | 'endedAt'>,
  request: ChainRequest,
): number | null {
  return isBefore(endedAt, firstTime(id, request), startedAt) ? null : endedAt
}

export type About = Pick<ConversationReport, 'rootId' | 'sessionId' | 'ids' | 'title'>

const HINDRANCES: { readonly [kind in ImportObstacle['kind']]: string } = {
  taken:
    'A session with this id already exists and was not imported from here. Bring this one into ' +
    'another store (`--store`).',
  gone: 'A session with this id was deleted here; it stays deleted.',
  held:
    'A process holds the session: it serves the store, or imports too. Run the import again when it ' +
    'is idle; `throughline doctor --fix` frees what a process that is gone still holds.',
  'in-use': 'The session is in the middle of a turn; run the import again when it is idle.',
}

export function notImported(
  about: About,
  { kind }: ImportObstacle,
  rows: number,
): ConversationReport {
  const nothing = { messages: 0, compactions: 0, rewound: 0, restored: [], made: 0 }
  const count = { in: rows, brought: 0, before: 0, copies: 0, silent: 0, left: rows }
  return { ...about, ...nothing, outcome: kind, rows: count, differences: [HINDRANCES[kind]] }
}

class Writing {
  readonly #hand: SessionImport
  readonly #request: ChainRequest
  readonly #count: CountMessage
  readonly #restored: number[] = []
  readonly #differences: string[] = []
  #made: number
  readonly #names = new CallNames()
  #before = 0
  #messages = 0
  #compactions = 0
  #rewound = 0
  #takenBack = 0
  #hasChanged = false
  #given = NO_KINDS
  #madeKinds = NO_KINDS

  constructor(hand: SessionImport, request: ChainRequest, count: CountMessage) {
    this.#hand = hand
    this.#request = request
    this.#count = count
    this.#made = hand.added
  }

  async write(entry: Exclude<FoldedEntry, { kind: 'beside' }>): Promise<void> {
    const { rowId } = entry
    this.#request.onRow()
    if (this.#hand.positions.has(rowId)) {
      this.#before += 1
      return
    }
    const raw = this.#request.rows.read(rowId)
    if (entry.kind === 'compaction') {
      await this.#append(raw, handoffOf(raw, this.#positionOf(entry), this.#count))
      this.#compactions += 1
      return
    }
    if (entry.isRestored) this.#restored.push(rowId)
    await this.#append(raw, entryOf(raw, this.#count, this.#names), { isAskedFor: entry.isKept })
    this.#messages += 1
  }

  async #append(raw: RawRow, entry: AdoptedEntry, how = { isAskedFor: true }): Promise<void> {
    this.#given = addKinds([this.#given, kindsOfRow(raw.fields)])
    this.#madeKinds = addKinds([this.#madeKinds, kindsOfEntry(entry)])
    await this.#hand.append(entry, how)
  }

  /** The entries that the new handoff covers, and those before them that Hermes kept. */
  #positionOf(entry: CompactionEntry): Parameters<typeof handoffOf>[1] {
    const { positions } = this.#hand
    const covers = positions.coversBefore(entry.keptFrom)
    const early = [...new Set(entry.keptRowIds)].flatMap((row) => {
      const number = positions.entryOf(row)
      return number === undefined || number > covers ? [] : [{ row, number }]
    })
    const preserved = early.slice(0, PRESERVED_MAX)
    return {
      ...{ covers, kept: positions.tail - covers, compactions: positions.handoffs + 1 },
      preserved: preserved.map(({ row, number }) => ({
        row: this.#request.rows.read(row),
        number,
      })),
    }
  }

  async setAside(row: number): Promise<void> {
    this.#request.onRow()
    if (this.#hand.positions.has(row)) {
      this.#before += 1
      if (!this.#hand.positions.isAside(row)) this.#takenBack += 1
      return
    }
    const raw = this.#request.rows.read(row)
    await this.#append(raw, asideOf(raw), { isAskedFor: false })
    this.#rewound += 1
  }

  /** Hermes went over to the other side of a fork: its handoff replaces that of the side left. */
  async changeSides({ newest }: Standing, sessionId: string): Promise<void> {
    const { positions } = this.#hand
    const { row, isInEffect } = positions.handoff ?? { row: 0, isInEffect: false }
    const told = `Hermes left the side of the fork that begins with the handoff of row ${row}.`
    if (!isInEffect) {
      this.#differences.push(
        `${told} What was compacted here since stays in effect, so the next turn may not see all that Hermes shows. To follow Hermes, undo it (\`throughline compact --session ${sessionId} --undo\`) and import again.`,
      )
      return
    }
    this.#hasChanged = true
    this.#made += 1
    // A handoff may repeat what was erased; without one the context holds all that is left.
    if (newest === null || positions.hasErased) {
      const { at } = this.#request.rows.read(row)
      const nothing = { row: null, at, tokens: 0, body: null }
      await this.#hand.append({ kind: 'rewind', ...nothing, effective: entryNumber(0) })
      this.#differences.push(
        `${told} It is undone: the next turn sees the messages that it replaced.`,
      )
      return
    }
    const raw = this.#request.rows.read(newest.rowId)
    await this.#hand.append(handoffOf(raw, this.#positionOf(newest), this.#count))
    this.#differences.push(`${told} That of row ${newest.rowId} is in effect now.`)
  }

  /** A late handoff from an abandoned branch: it replaces nothing. */
  async setBeside(row: number): Promise<void> {
    this.#request.onRow()
    if (this.#hand.positions.has(row)) {
      this.#before += 1
      return
    }
    const raw = this.#request.rows.read(row)
    await this.#append(raw, asideOf(raw))
    this.#compactions += 1
    this.#differences.push(`Row ${row} is the handoff of a branch and is kept beside it.`)
  }

  report(about: About, folded: Folded): ConversationReport {
    const { copyCount, rowsIn } = folded
    const brought = this.#messages + this.#compactions + this.#rewound
    for (const { rowId, ofRowId } of folded.copies()) {
      this.#differences.push(
        `${copyCount} rows are copies that compaction made and are not doubled, such as row ${rowId} of row ${ofRowId}.`,
      )
      break
    }
    if (this.#rewound > 0) {
      this.#differences.push(`${this.#rewound} rows were taken back and are kept beside it.`)
    }
    if (this.#takenBack > 0) {
      this.#differences.push(
        `${this.#takenBack} rows that were brought before count as taken back in Hermes now.`,
      )
    }
    if (this.#restored.length > 0 && this.#before > 0) {
      this.#differences.push(
        `${this.#restored.length} lost rows arrived after the first import and stand at the end.`,
      )
    }
    const state = this.#hand.state
    return {
      ...about,
      outcome: state === 'continued' && brought === 0 && !this.#hasChanged ? 'unchanged' : state,
      rows: { in: rowsIn, brought, before: this.#before, copies: copyCount, silent: 0, left: 0 },
      kinds: { given: this.#given, made: this.#madeKinds },
      ...{ messages: this.#messages, compactions: this.#compactions, rewound: this.#rewound },
      ...{ restored: this.#restored, made: this.#made, differences: this.#differences },
    }
  }
}
