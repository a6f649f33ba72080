import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'

/**
 * What stands in a Hermes store, by SQL and JSON alone: nothing of the reader under test takes part
 * in saying what it should have read.
 */
export interface PlainRow {
  readonly id: number
  readonly sessionId: string
  readonly role: string
  /** Every column but those that say where the row stands, as one text. */
  readonly said: string
  /** Where it stands. */
  readonly state: 'live' | 'archived' | 'rewound'
}

const PLACE = new Set(['id', 'session_id', 'active', 'compacted', '_compressed_summary'])
/** Schema 26 has no place for them. */
const LATER = new Set(['display_identity', 'display_order'])

export function plainRows(path: string): readonly PlainRow[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database
      .prepare('select * from messages order by id')
      .all()
      .map((row) => ({
        ...{
          id: Number(row['id']),
          sessionId: String(row['session_id']),
          role: String(row['role']),
        },
        said: saidBy(row),
        state: stateOf(row['active'], row['compacted']),
      }))
  } finally {
    database.close()
  }
}

function stateOf(active: SQLOutputValue | undefined, compacted: SQLOutputValue | undefined) {
  if (active === undefined || active === null || active === 1) return 'live'
  return compacted === 1 ? 'archived' : 'rewound'
}

function saidBy(row: { readonly [column: string]: SQLOutputValue }): string {
  const told = Object.keys(row)
    .filter((name) => !PLACE.has(name) && !LATER.has(name))
    .filter((name) => row[name] !== null && !(name === 'observed' && row[name] === 0))
    .sort()
  return told
    .map((name) => {
      const value = row[name]
      const text = value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
      return `${name}=${typeof value}:${text}`
    })
    .join('\u0001')
}

export interface PlainKinds {
  calls: number
  results: number
  pictures: number
}

/** Calls, results and pictures of some rows, by the JSON in their columns. */
export function plainKinds(path: string, ids: ReadonlySet<number>): PlainKinds {
  const database = new DatabaseSync(path, { readOnly: true })
  const kinds = { calls: 0, results: 0, pictures: 0 }
  try {
    const rows = database.prepare('select id, role, content, tool_calls from messages').all()
    for (const { id, role, content, tool_calls: calls } of rows) {
      if (!ids.has(Number(id))) continue
      if (role === 'tool') kinds.results += 1
      if (typeof calls === 'string') kinds.calls += (loads(calls) as unknown[] | null)?.length ?? 0
      if (typeof content !== 'string' || !content.startsWith('\0json:')) continue
      const parts = loads(content.slice(6))
      const list = Array.isArray(parts) ? (parts as { type?: string }[]) : []
      kinds.pictures += list.filter(({ type }) =>
        /^(?:image_url|image|input_image)$/.test(type ?? ''),
      ).length
    }
    return kinds
  } finally {
    database.close()
  }
}

/** As `json.loads`: the three words that JSON lacks are taken for nothing. */
function loads(text: string): unknown {
  const safe = text.replace(/"(?:[^"\\]|\\.)*"|-?Infinity|NaN/gs, (one) =>
    one.startsWith('"') ? one : 'null',
  )
  try {
    return JSON.parse(safe) as unknown
  } catch {
    return null
  }
}
