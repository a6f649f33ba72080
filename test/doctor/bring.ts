import { entryNumber, type SessionId } from '../../src/base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../../src/base/json.ts'
import { importHermes } from '../../src/doctor/import/hermes.ts'
import type { ImportReport } from '../../src/doctor/import/report.ts'
import { storedMessage } from '../../src/doctor/import/stored-message.ts'
import { hermes } from '../../src/message/codecs/hermes.ts'
import { shelve } from '../../src/runtime/blobs.ts'
import type { Store } from '../../src/store/contract.ts'
import type { Entry } from '../../src/store/rows.ts'
import { LIMITS } from '../../src/testing/store/desk.ts'

export async function bring(path: string, store: Store): Promise<ImportReport> {
  return await importHermes({
    ...{ path, agent: null, limits: LIMITS, withMemories: false, shelve },
    host: { boot: 'boot', process: 1 },
    target: { isDryRun: false, store },
  })
}

/** The row as Hermes would write it, from what the entry holds. */
export function contentOf(entry: Entry): string {
  const body = JSON.parse(entry.body ?? 'null') as JsonValue
  if (entry.kind === 'compaction') {
    return JSON.stringify([isObject(body) ? body['summary'] : null, null, null])
  }
  const message = storedMessage(entry)
  const messages = message === null ? [] : [message]
  const [row] = hermes.format({ format: 'hermes', messages, notes: [] }) as JsonObject[]
  const { content = null, tool_calls: calls = null, tool_call_id: call = null } = row ?? {}
  const asText = (value: JsonValue) =>
    value === null || typeof value === 'string' ? value : JSON.stringify(value)
  return JSON.stringify([asText(content), asText(calls), call])
}

export async function readAll(
  store: Store,
  id: SessionId,
  tail: number,
): Promise<readonly Entry[]> {
  const range = { from: entryNumber(1), to: entryNumber(Math.max(1, tail)) }
  return await store.readEntries({ sessionId: id, ...range })
}
