import { type EntryNumber, entryNumber, type SessionId } from '#core/base/ids'
import { pinnedText } from '#core/message/handoff/pinned'
import { LIST_MAX, NOTES_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import { parseBody } from '#core/store/integrity/damaged-row'
import type { Entry, SessionRow } from '#core/store/rows'
import { blockMayRepeat, type Forgotten, mayRepeat, memoryBlock } from '../../tools/memory/block.ts'
import { MEMORY_PIN, MEMORY_TOOL } from '../../tools/memory/memory.ts'
import { readNotes } from '../../tools/memory/visible.ts'
import { ask, askToErase, readControls } from '../sessions/control-requests.ts'
import { forgetReminders } from './reminder-erasure.ts'

/**
 * Erasure reaches where tools have carried the words. What was noted from an erased entry stands in
 * the block of notes of every session of the agent, in the entries that set it and in mail that is
 * about to; each such session is asked to erase those, and to show the notes as they are now. What
 * the entry asked to be told later goes as well. All of that is asked for before the entries
 * themselves go: whoever dies in between finds the request for the erasure still waiting, and does
 * it again. What it costs depends on what is erased and on what was noted; on what was said only
 * where reminders have come.
 */
export interface ErasureParts {
  readonly store: Store
  /** Absent: no agent does. */
  readonly sharesNotes?: (agent: string) => boolean
  readonly countTokens: (sessionId: SessionId, text: string) => number
}

/** Read side by side, so that 10,000 sessions do not wait for each other. */
const SESSIONS_AT_ONCE = 32
/** Behind the last entry of any session: one that was added since its row was read is found. */
const ANY_TAIL = entryNumber(2 ** 31 - 1)

/** The same store; what it erases is forgotten by the tools as well. */
export function propagateErasure(parts: ErasureParts): Store {
  const { store } = parts
  return {
    ...store,
    async eraseEntries(request) {
      const { sessionId } = request.lease
      const erased = await readErased(store, sessionId, request.entries)
      if (await mayBeNoted(store, sessionId, erased)) {
        await forgetNotes(parts, { sessionId, entries: new Set(request.entries) })
      }
      const schedules = await forgetReminders(store, sessionId, erased)
      return await store.eraseEntries({ ...request, schedules })
    },
  }
}

/** Throws NotAskedError where a mailbox takes nothing now. */
export async function forgetNotes(parts: ErasureParts, forgotten: Forgotten): Promise<void> {
  const { store } = parts
  const source = await store.findSession(forgotten.sessionId)
  if (source === undefined) return
  const { agent, scope } = source
  for (const note of await store.listNotes({ agent, scope, limit: NOTES_MAX })) {
    if (mayRepeat(note, forgotten)) await store.removeNote(note)
  }
  let after: SessionId | undefined
  do {
    const query = { agent, state: 'open', limit: LIST_MAX, ...(after && { after }) } as const
    const page = await store.listSessions(query)
    for (let first = 0; first < page.length; first += SESSIONS_AT_ONCE) {
      const some = page.slice(first, first + SESSIONS_AT_ONCE)
      await Promise.all(some.map((session) => forgetIn(parts, session, forgotten)))
    }
    after = page.length < LIST_MAX ? undefined : page.at(-1)?.id
  } while (after !== undefined)
}

/** Notes are made by calls of the tool, and proposed before compactions; pins make none. */
async function mayBeNoted(
  store: Store,
  sessionId: SessionId,
  erased: readonly Entry[],
): Promise<boolean> {
  const isCompacted = (await store.listOperations({ sessionId, limit: 1 })).length > 0
  return erased.some(
    ({ kind, body }) =>
      kind !== 'pin' && (isCompacted || body === null || body.includes(MEMORY_TOOL)),
  )
}

/** By runs of neighbours: what lies between is not read. */
async function readErased(
  store: Store,
  sessionId: SessionId,
  numbers: readonly EntryNumber[],
): Promise<readonly Entry[]> {
  const erased: Entry[] = []
  const rest = [...new Set(numbers)].sort((a, b) => a - b)
  for (let from = rest.shift(); from !== undefined; from = rest.shift()) {
    let to = from
    for (; rest[0] === to + 1 && to - from < LIST_MAX - 1; rest.shift()) to = rest[0]
    erased.push(...(await store.readEntries({ sessionId, from, to })))
  }
  return erased
}

async function forgetIn(
  parts: ErasureParts,
  { id: sessionId, agent, pending }: SessionRow,
  forgotten: Forgotten,
): Promise<void> {
  const { store, countTokens, sharesNotes = () => false } = parts
  const waiting = pending.control === 0 ? [] : await readControls(store, sessionId)
  const tainted = waiting.filter(
    ({ pin }) => pin?.name === MEMORY_PIN && blockMayRepeat(pin.text, forgotten),
  )
  // What is carried out meanwhile is found below, as an entry.
  for (const { mail } of tainted) await store.withdraw({ sessionId, mail })
  const entries = await findBlocks(store, sessionId, forgotten)
  // Of most sessions of an agent this is all that is read.
  if (entries.length === 0 && tainted.length === 0) return
  const session = await store.findSession(sessionId)
  if (session === undefined) return
  const pinEntry = session.pins[MEMORY_PIN]?.entry
  const isAsked = waiting.some(({ erases }) => pinEntry !== undefined && erases.includes(pinEntry))
  const isVisible = pinEntry !== undefined && entries.includes(pinEntry) && !isAsked
  if (isVisible || tainted.length > 0) {
    const isShared = sharesNotes(agent)
    const text = memoryBlock(await readNotes(store, session, { isShared }))
    const tokens = text === null ? 0 : countTokens(sessionId, pinnedText(MEMORY_PIN, text))
    await ask(store, sessionId, { control: 'pin', body: { name: MEMORY_PIN, text }, tokens })
  }
  await askToErase(store, sessionId, entries, 'noted from elsewhere')
}

/** The entries of a session that set its block of notes to one that may repeat what is forgotten. */
async function findBlocks(
  store: Store,
  sessionId: SessionId,
  forgotten: Forgotten,
): Promise<readonly EntryNumber[]> {
  const found: EntryNumber[] = []
  for (let from = 1; ; ) {
    const range = { sessionId, from: entryNumber(from), to: ANY_TAIL, kind: 'pin' } as const
    const pins = await store.readEntries(range)
    for (const entry of pins) {
      const block = blockIn(entry)
      if (block !== null && blockMayRepeat(block, forgotten)) found.push(entry.number)
    }
    if (pins.length < LIST_MAX) return found
    from = (pins.at(-1)?.number ?? ANY_TAIL) + 1
  }
}

function blockIn(entry: Entry): string | null {
  if (entry.kind !== 'pin' || entry.meta.name !== MEMORY_PIN || entry.body === null) return null
  const text = parseBody('entry', entry)
  return typeof text === 'string' ? text : null
}
