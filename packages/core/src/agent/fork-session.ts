import { entryNumber, isId, operationId, type SessionId } from '../base/ids.ts'
import { checkKey, invalidOption, show } from '../base/option-checks.ts'
import { eraseDeleted } from '../session/erase-session.ts'
import type { Store } from '../store/contract.ts'
import type { ControlResult, ForkOptions, RefusedFork } from './agent-types.ts'

/** A session that begins with the entries of another one; refused where there is nothing to begin with. */
export async function forkFrom(
  store: Pick<Store, 'findSession' | 'fork'>,
  from: SessionId,
  { at, id, key = crypto.randomUUID(), source }: ForkOptions & { readonly source: string },
): Promise<{ kind: 'forked'; id: SessionId; isDuplicate: boolean } | RefusedFork> {
  checkKey(key)
  const chosen = id ?? `fork-${crypto.randomUUID()}`
  if (!isId(chosen)) {
    throw invalidOption('id', `"id" is ${show(id)}. Use letters, digits, "_" and "-".`)
  }
  const session = await store.findSession(from)
  if (session === undefined) return { kind: 'refused', why: 'unknown-entry', entries: 0 }
  const last = at ?? session.tail
  if (!Number.isSafeInteger(last) || last < 1) {
    return { kind: 'refused', why: 'unknown-entry', entries: session.tail }
  }
  const outcome = await store.fork({
    ...{ id: chosen as SessionId, from, at: entryNumber(last), source, key },
    operation: operationId(crypto.randomUUID()),
  })
  switch (outcome.kind) {
    case 'forked':
      return { kind: 'forked', id: outcome.session.id, isDuplicate: false }
    case 'duplicate':
      return { kind: 'forked', id: outcome.sessionId, isDuplicate: true }
    case 'conflict':
      return { kind: 'refused', why: 'key-reused' }
    case 'exists':
      return { kind: 'refused', why: 'id-taken' }
    case 'unknown-entry':
      return { kind: 'refused', why: 'unknown-entry', entries: outcome.tail }
    default:
      return { kind: 'refused', why: 'session-deleted' }
  }
}

/** Erases a session with all it keeps; refused while forks read it, unless it is said what becomes of them. */
export async function eraseWhole(
  store: Pick<Store, 'deleteSession' | 'eraseSome'>,
  id: SessionId,
  what: { readonly reason: string; readonly forks?: 'refuse' | 'keep' | 'purge' },
): Promise<ControlResult> {
  const operation = operationId(crypto.randomUUID())
  const deleted = await store.deleteSession({ sessionId: id, operation, ...what })
  if (deleted.kind === 'forked') return { kind: 'refused', why: 'forked', forks: deleted.forks }
  const sessions = deleted.kind === 'done' ? deleted.sessions : [id]
  // Forks before what they read.
  for (const each of sessions.toReversed()) await eraseDeleted(store, each)
  return { kind: 'done' }
}
