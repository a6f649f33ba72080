import type { DatabaseSync } from 'node:sqlite'
import { isObject, type JsonObject } from '#core/base/json'
import { type ProfileFiles, readRoutingFile } from '../read/home.ts'
import { columnText, hasColumns } from '../read/rows.ts'
import type { HermesSchema } from '../read/schema.ts'

/** Where messages go: from `gateway_routing` or, in older versions, `sessions/sessions.json`. */
export interface HermesRoute {
  readonly key: string
  readonly sessionId: string
  readonly from: string
  /** The other fields of the entry: platform, chat, thread. */
  readonly entry: JsonObject
}

/** An unreadable entry; key null: the whole file is unreadable. */
export interface TornRoute {
  readonly key: string | null
  readonly from: string
}

export interface Routing {
  readonly routes: readonly HermesRoute[]
  readonly torn: readonly TornRoute[]
}

export async function readRouting(
  database: DatabaseSync,
  schema: HermesSchema,
  { routingFile }: ProfileFiles,
): Promise<Routing> {
  const inTable = readTable(database, schema)
  if (inTable.routes.length > 0 || routingFile === null) return inTable
  const inFile = parseRoutes(await readRoutingFile(routingFile))
  return { routes: inFile.routes, torn: [...inTable.torn, ...inFile.torn] }
}

function readTable(database: DatabaseSync, schema: HermesSchema): Routing {
  if (!hasColumns(schema, 'gateway_routing', ['session_key', 'entry_json'])) return NOTHING
  const rows = database.prepare('select session_key, entry_json from "gateway_routing"').all()
  const entries = rows.map((row): [string, unknown] => [
    columnText(row['session_key']) ?? '',
    parse(columnText(row['entry_json']) ?? ''),
  ])
  return routingOf(entries, 'gateway_routing')
}

function parseRoutes(text: string): Routing {
  const from = 'sessions.json'
  const value = parse(text)
  return isObject(value)
    ? routingOf(Object.entries(value), from)
    : { routes: [], torn: [{ key: null, from }] }
}

const NOTHING: Routing = { routes: [], torn: [] }

function routingOf(entries: readonly (readonly [string, unknown])[], from: string): Routing {
  const routes: HermesRoute[] = []
  const torn: TornRoute[] = []
  for (const [key, entry] of entries) {
    const sessionId = isObject(entry) ? entry['session_id'] : null
    if (isObject(entry) && typeof sessionId === 'string' && sessionId !== '') {
      routes.push({ key, sessionId, from, entry })
    } else torn.push({ key, from })
  }
  return { routes, torn }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
