import { randomUUID } from 'node:crypto'
import { KnownError } from '../base/errors.ts'
import { type EntryNumber, entryNumber, type MailNumber, type SessionId } from '../base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../base/json.ts'
import { ERASE_MAX, LIST_MAX, NOTES_MAX } from '../store/bounds.ts'
import type { Store } from '../store/contract.ts'
import type { MailItem } from '../store/queries.ts'
import type { Entry, SessionRow } from '../store/rows.ts'
import { blockMayRepeat, type Forgotten, mayRepeat, memoryBlock } from '../tools/memory/block.ts'
import { MEMORY_PIN, MEMORY_TOOL } from '../tools/memory/memory.ts'

/**
 * Erasure reaches where notes have carried the words. What was noted from an erased entry stands in
 * the block of notes of every session of the agent, in the entries that set it and in mail that is
 * about to; each such session is asked to erase those, and to show the notes as they are now. All of
 * that is asked for before the entries themselves go: whoever dies in between finds the request for
 * the erasure still waiting, and does it again.
 */
export interface ForgettingParts {
  readonly store: Store
  readonly countTokens: (sessionId: SessionId, text: string) => number
}

/** The same store; what it erases is forgotten in notes as well. */
export function forgetting(parts: ForgettingParts): Store {
  const { store } = parts
  return {
    ...store,
    async eraseEntries(request) {
      const { sessionId } = request.lease
      await forgetNotes(parts, { sessionId, entries: new Set(request.entries) })
      return await store.eraseEntries(request)
    },
  }
}

/** Throws NotAskedError where a mailbox takes nothing now. */
export async function forgetNotes(parts: ForgettingParts, forgotten: Forgotten): Promise<void> {
  const { store } = parts
  const source = await store.findSession(forgotten.sessionId)
  if (source === undefined || !(await mayBeNoted(store, source, forgotten))) return
  const { agent } = source
  for (const note of await store.listNotes({ agent, limit: NOTES_MAX })) {
    if (mayRepeat(note, forgotten)) await store.removeNote({ agent, id: note.id })
  }
  let after: SessionId | undefined
  do {
    const query = { agent, state: 'open', limit: LIST_MAX, ...(after && { after }) } as const
    const page = await store.listSessions(query)
    for (const session of page) await forgetIn(parts, session, forgotten)
    after = page.at(-1)?.id
  } while (after !== undefined)
}

/** Notes are made by calls of the tool, and proposed before compactions; pins make none. */
async function mayBeNoted(
  store: Store,
  { id: sessionId, tail }: SessionRow,
  { entries }: Forgotten,
): Promise<boolean> {
  const isCompacted = (await store.listOperations({ sessionId, limit: 1 })).length > 0
  const isNoted = ({ number, kind, body }: Entry) =>
    (entries === 'all' || entries.has(number)) &&
    kind !== 'pin' &&
    (isCompacted || body === null || body.includes(MEMORY_TOOL))
  for await (const page of pagesOf(store, { sessionId, tail })) {
    if (page.some(isNoted)) return true
  }
  return false
}

async function forgetIn(
  parts: ForgettingParts,
  { id: sessionId, agent }: SessionRow,
  forgotten: Forgotten,
): Promise<void> {
  const { store, countTokens } = parts
  const query = { sessionId, lane: 'control', state: 'pending', limit: LIST_MAX } as const
  const waiting = (await store.listMail(query)).map(requestOf)
  const tainted = waiting.filter(({ pin }) => pin !== null && blockMayRepeat(pin, forgotten))
  // What is carried out meanwhile is found below, as an entry.
  for (const { mail } of tainted) await store.withdraw({ sessionId, mail })
  const session = await store.findSession(sessionId)
  if (session === undefined) return
  const asked = new Set(waiting.flatMap(({ erases }) => erases))
  const found = await findBlocks(store, session, forgotten)
  const entries = found.filter((number) => !asked.has(number))
  const shown = session.pins[MEMORY_PIN]?.entry
  const isShown = shown !== undefined && entries.includes(shown)
  if (isShown || tainted.length > 0) {
    const text = memoryBlock(await store.listNotes({ agent, limit: NOTES_MAX }))
    const tokens = text === null ? 0 : countTokens(sessionId, text)
    await ask(store, sessionId, { control: 'pin', body: { name: MEMORY_PIN, text }, tokens })
  }
  for (let from = 0; from < entries.length; from += ERASE_MAX) {
    const body = { entries: entries.slice(from, from + ERASE_MAX), reason: 'noted from elsewhere' }
    await ask(store, sessionId, { control: 'erase', body, tokens: 0 })
  }
}

/** The entries of a session that set its block of notes to one that may repeat what is forgotten. */
async function findBlocks(
  store: Store,
  { id: sessionId, tail }: SessionRow,
  forgotten: Forgotten,
): Promise<readonly EntryNumber[]> {
  const found: EntryNumber[] = []
  for await (const page of pagesOf(store, { sessionId, tail })) {
    for (const entry of page) {
      const block = blockIn(entry)
      if (block !== null && blockMayRepeat(block, forgotten)) found.push(entry.number)
    }
  }
  return found
}

async function* pagesOf(
  store: Store,
  { sessionId, tail }: { readonly sessionId: SessionId; readonly tail: EntryNumber },
): AsyncIterable<readonly Entry[]> {
  for (let from = 1; from <= tail; from += LIST_MAX) {
    const to = entryNumber(Math.min(tail, from + LIST_MAX - 1))
    yield await store.readEntries({ sessionId, from: entryNumber(from), to })
  }
}

function blockIn(entry: Entry): string | null {
  if (entry.kind !== 'pin' || entry.meta.name !== MEMORY_PIN || entry.body === null) return null
  const text = JSON.parse(entry.body) as JsonValue
  return typeof text === 'string' ? text : null
}

/** What a waiting control item would do to the block of notes. */
function requestOf({ number: mail, control, body }: MailItem) {
  const asked = body === null ? null : (JSON.parse(body) as JsonValue)
  const { name, text, entries }: JsonObject = isObject(asked) ? asked : {}
  const isPin = control === 'pin' && name === MEMORY_PIN && typeof text === 'string'
  const erases = control === 'erase' && Array.isArray(entries) ? entries : []
  return { mail, pin: isPin ? text : null, erases }
}

/** Whoever wants something forgotten must know when it was not even asked for. */
export class NotAskedError extends KnownError {
  override readonly name = 'NotAskedError'
  readonly code = 'purge-not-asked'
  readonly retryable = true

  constructor(sessionId: SessionId, why: string) {
    super(`The mailbox of session ${sessionId} did not take the request (${why}); ask again later.`)
  }
}

/** Asks whoever holds a session, now or next, to do something. Null: there is no such session. */
export async function ask(
  store: Store,
  sessionId: SessionId,
  mail: { readonly control: string; readonly body: JsonObject; readonly tokens: number },
): Promise<MailNumber | null> {
  const request = { source: 'purge', key: randomUUID(), lane: 'control', ...mail } as const
  const outcome = await store.admit({ to: { sessionId }, ...request })
  if (outcome.kind === 'gone' || outcome.kind === 'unknown') return null
  if (outcome.kind !== 'admitted') throw new NotAskedError(sessionId, outcome.kind)
  return outcome.mail
}
