import { existsSync } from 'node:fs'
import { NamedDraft } from '#core/base/files/write'
import { entryNumber, type SessionId } from '#core/base/ids'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { Reads } from '#core/store/contract'
import { translateSqliteError } from '#core/store/sqlite/connection'
import type { Entry, SessionRow } from '#core/store/tables/rows'
import { importedFromOf } from '../../session-importer.ts'
import { storedMessage } from '../../stored-message.ts'
import { ExportRefusedError } from './errors.ts'
import { HermesFile } from './file.ts'
import { handoffRow, messageRow, preservedNumbers } from './row.ts'

/**
 * Exports one session as a Hermes store of its own, under its Hermes id. A compaction looks as
 * Hermes would have left it: the covered rows are archived, the handoff follows them, and the rows
 * that it kept are repeated live. So Hermes continues with the same context that we would.
 */
export interface ExportHermes {
  readonly reads: Reads
  readonly sessionId: SessionId
  readonly to: string
  /** Replaces references by the bytes of images and files. */
  readonly unshelve: Unshelve
  readonly now?: number
}

export type Unshelve = (
  message: NonNullable<ReturnType<typeof storedMessage>>,
) => Promise<NonNullable<ReturnType<typeof storedMessage>>>

export interface HermesExport {
  readonly format: 'throughline-export-hermes'
  readonly version: 1
  readonly sessionId: string
  /** Its id in the new file. */
  readonly id: string
  readonly to: string
  readonly rows: number
  readonly live: number
  readonly routes: readonly string[]
  /** Content that a Hermes store cannot hold, counted by kind. */
  readonly left: { readonly [kind: string]: number }
}

const PAGE = 500

export async function exportHermes(request: ExportHermes): Promise<HermesExport> {
  const { reads, to } = request
  const session = await reads.findSession(request.sessionId)
  if (session === undefined || session.state !== 'open') {
    refuse(request.sessionId, 'there is no such session. See `throughline sessions`.')
  }
  if (existsSync(to)) refuse(to, 'it already exists, and an export never replaces a file.')
  const draft = new NamedDraft(to)
  try {
    const told = await write(session, request, draft.path)
    draft.publish()
    return told
  } catch (error) {
    throw translateSqliteError(error, to)
  } finally {
    draft.remove()
  }
}

function refuse(what: string, problem: string): never {
  throw new ExportRefusedError({ what, problem })
}

async function write(
  session: SessionRow,
  request: ExportHermes,
  draft: string,
): Promise<HermesExport> {
  const { reads, to } = request
  const now = (request.now ?? Date.now()) / 1_000
  const told = await settingsOf(session, reads)
  const id = told.from ?? session.id
  const routes = await reads.listRoutes({ sessionId: session.id })
  const file = new HermesFile(draft)
  try {
    file.begin({
      ...{ id, startedAt: session.createdAt, title: session.title, columns: told.columns },
      ...{ system: told.system, source: routes[0]?.channel ?? 'cli' },
      keys: routes.map(({ channel, address }) => ({ channel, key: keyOf(channel, address) })),
      now,
    })
    const left = await writeEntries(session, request, file)
    const { rows, live } = file.end()
    return {
      ...{ format: 'throughline-export-hermes', version: 1, sessionId: session.id, id, to },
      ...{ rows, live, left },
      routes: routes.map(({ channel, address }) => keyOf(channel, address)),
    }
  } finally {
    file.close()
  }
}

/** Hermes' key for the chat of a conversation. */
function keyOf(channel: string, address: string): string {
  return `agent:main:${channel}:${address}`
}

async function settingsOf(
  { id, settings, tail }: SessionRow,
  reads: Reads,
): Promise<{
  readonly system: string | null
  readonly from: string | null
  readonly columns: JsonObject
}> {
  const read = async (number: number) => {
    if (number === 0 || tail === 0) return undefined
    const at = entryNumber(number)
    return (await reads.readEntries({ sessionId: id, from: at, to: at }))[0]
  }
  const [first, newest] = [await read(1), await read(settings)]
  const from = first === undefined ? null : importedFromOf(first)
  const latest = newest === undefined ? null : importedFromOf(newest)
  const body = newest?.body === undefined || newest.body === null ? null : parse(newest.body)
  const system = isObject(body) ? body['system'] : null
  return {
    system: typeof system === 'string' ? system : null,
    from: from?.format === 'hermes' ? from.id : null,
    columns: (from?.format === 'hermes' ? (latest ?? from).session : undefined) ?? {},
  }
}

async function writeEntries(
  session: SessionRow,
  request: ExportHermes,
  file: HermesFile,
): Promise<HermesExport['left']> {
  const { effective, covers, tail } = session
  const left: { [kind: string]: number } = {}
  const kept: JsonObject[] = []
  const preserved = new Map<number, JsonObject>()
  const early = effective === 0 ? new Set<number>() : await keptEarly(session, request.reads)
  for await (const entry of entriesOf(request.reads, session.id, tail)) {
    const { number } = entry
    if (entry.kind === 'compaction') {
      const row = handoffRow(entry)
      const isClearing = entry.meta.by === 'clearing'
      if (row === null) count(left, isClearing ? 'clearing' : 'erased')
      else file.add(row, number === effective ? 'live' : 'archived')
      if (number !== effective) continue
      for (const copy of [...preserved.values(), ...kept]) file.add(copy, 'live')
      continue
    }
    const message = storedMessage(entry)
    if (message === null) {
      if (!SILENT.has(entry.kind)) count(left, entry.body === null ? 'erased' : entry.kind)
      continue
    }
    for (const row of messageRow(await request.unshelve(message), entry.at)) {
      if (entry.kind === 'turn') file.add(row, 'rewound')
      else if (number > effective) file.add(row, 'live')
      else {
        const written = file.add(row, 'archived')
        if (number > covers) kept.push(written)
        else if (early.has(number)) preserved.set(number, written)
      }
    }
  }
  return left
}

/** Entries that add nothing for a model beyond the rows. */
const SILENT = new Set<Entry['kind']>(['settings', 'turn', 'revert', 'erasure', 'record'])

function count(into: { [kind: string]: number }, kind: string): void {
  into[kind] = (into[kind] ?? 0) + 1
}

async function keptEarly(
  { id, effective }: SessionRow,
  reads: Reads,
): Promise<ReadonlySet<number>> {
  const range = { sessionId: id, from: effective, to: effective }
  const [entry] = await reads.readEntries(range)
  return entry?.kind === 'compaction' ? preservedNumbers(entry) : new Set()
}

async function* entriesOf(reads: Reads, id: SessionId, tail: number): AsyncGenerator<Entry> {
  for (let from = 1; from <= tail; from += PAGE) {
    const to = entryNumber(Math.min(tail, from + PAGE - 1))
    yield* await reads.readEntries({ sessionId: id, from: entryNumber(from), to })
  }
}

function parse(text: string): JsonValue {
  return JSON.parse(text) as JsonValue
}
