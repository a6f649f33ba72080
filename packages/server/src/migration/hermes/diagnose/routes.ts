import { isUtf8 } from 'node:buffer'
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { parsePythonJson } from '#core/message/formats/hermes/python-json'
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
  if (routingFile === null) return inTable
  const inFile = parseRoutes(await readRoutingFile(routingFile))
  if (inTable.routes.length === 0) {
    return { routes: inFile.routes, torn: [...inTable.torn, ...inFile.torn] }
  }
  // Hermes takes the routes of the file that its table lacks.
  const known = new Set([...inTable.routes, ...inTable.torn].map(({ key }) => key))
  const others = inFile.routes.filter(({ key }) => !known.has(key))
  return { ...inTable, routes: [...inTable.routes, ...others] }
}

function readTable(database: DatabaseSync, schema: HermesSchema): Routing {
  if (!hasColumns(schema, 'gateway_routing', ['session_key', 'entry_json'])) return NOTHING
  const rows = database
    .prepare('select session_key, cast(entry_json as blob) as entry_json from "gateway_routing"')
    .all()
  const entries = rows.map((row): [string, JsonValue] => [
    columnText(row['session_key']) ?? '',
    parsePythonJson(readable(row['entry_json'])),
  ])
  return routingOf(entries, 'gateway_routing')
}

function parseRoutes(text: string): Routing {
  const from = 'sessions.json'
  const value = parsePythonJson(text)
  return isObject(value)
    ? routingOf(
        // Hermes begins the file with a note under `_README`.
        Object.entries(value).filter(([key]) => !key.startsWith('_')),
        from,
      )
    : { routes: [], torn: [{ key: null, from }] }
}

const NOTHING: Routing = { routes: [], torn: [] }

function routingOf(entries: readonly (readonly [string, JsonValue])[], from: string): Routing {
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

/** Python reads no row with invalid UTF-8. */
function readable(bytes: SQLOutputValue | undefined): string {
  return bytes instanceof Uint8Array && isUtf8(bytes) ? (columnText(bytes) ?? '') : ''
}
