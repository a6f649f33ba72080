import type { MailNumber, SessionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import { LIST_MAX } from '../../store/bounds.ts'
import type { Refusal } from '../../store/commits.ts'
import type { Reads } from '../../store/contract.ts'
import type { EventHub } from '../events/event-hub.ts'

export type ControlEnd =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'turned-down'
      readonly why: Refusal['why']
      /** If space was missing: the needed and the available tokens. */
      readonly tokensAfter?: number
      readonly limit?: number
    }

/**
 * The outcome of a control item. The mailbox shows only that it was settled; the record of that
 * commit shows whether it was refused, and why.
 */
export async function controlOutcome(
  { store, hub }: { readonly store: ControlReads; readonly hub: Pick<EventHub, 'events'> },
  { sessionId, mail }: { readonly sessionId: SessionId; readonly mail: MailNumber },
  signal: AbortSignal,
): Promise<ControlEnd | null> {
  for await (const event of hub.events({ sessionId }, signal)) {
    // `caught-up` comes first: items settled before we listened are visible then.
    if (event.type === 'live') continue
    const [item] = await store.listMail({ sessionId, after: (mail - 1) as MailNumber, limit: 1 })
    if (item?.number !== mail || item.lane !== 'control' || item.state === 'withdrawn') return null
    if (item.state === 'settled') return await findEnd(store, sessionId, mail)
  }
  return null
}

type ControlReads = Pick<Reads, 'listMail' | 'readAudit' | 'readStore' | 'listOperations'>

const OPERATIONS_READ = 50

async function findEnd(
  store: ControlReads,
  sessionId: SessionId,
  mail: MailNumber,
): Promise<ControlEnd> {
  const facts = await findRecord(store, sessionId, mail)
  const why = facts?.['refused']
  if (typeof why === 'string') {
    const { tokensAfter, limit } = facts ?? {}
    return {
      kind: 'turned-down',
      why: why as Refusal['why'],
      ...(typeof tokensAfter === 'number' && typeof limit === 'number' && { tokensAfter, limit }),
    }
  }
  const operations = await store.listOperations({ sessionId, limit: OPERATIONS_READ })
  const asked = operations.find(({ requestedBy }) => requestedBy === mail)
  const isVain = asked !== undefined && asked.state !== 'committed'
  return isVain ? { kind: 'turned-down', why: 'compaction-failed' } : { kind: 'done' }
}

/**
 * Backwards from the newest commit, in growing steps, because it is usually recent. No row about an
 * item comes before its admission.
 */
async function findRecord(
  store: ControlReads,
  sessionId: SessionId,
  mail: MailNumber,
): Promise<JsonObject | undefined> {
  const { commits } = await store.readStore()
  for (let to = commits, span = LIST_MAX; to > 0; span *= 4) {
    const from = Math.max(0, to - span)
    let isAdmittedHere = false
    for (let after = from; after < to; ) {
      const rows = await store.readAudit({ sessionId, after, limit: LIST_MAX })
      for (const { kind, facts } of rows) {
        if (kind === 'message admitted' && facts['mail'] === mail) isAdmittedHere = true
        if (kind !== 'control settled' || !Array.isArray(facts['mail'])) continue
        if (facts['mail'].includes(mail)) return facts
      }
      if (rows.length < LIST_MAX) break
      after = rows.at(-1)?.cursor ?? to
    }
    if (isAdmittedHere) return undefined
    to = from
  }
  return undefined
}
