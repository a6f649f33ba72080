import type { AuditWriter } from '../../../packages/core/src/audit/log/log.ts'
import { SessionTrail } from '../../../packages/core/src/audit/session-audit-writer.ts'
import type { SessionId } from '../../../packages/core/src/base/ids.ts'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import type { InputLane } from '../../../packages/core/src/store/tables/rows.ts'
import { auditedIntake } from '../../../packages/server/src/runtime/store-layers/audited-intake.ts'

/**
 * The same, and the lines of a session's holder, for tests that use the store without an actor: a
 * picture is taken whenever the session is read.
 */
export function auditedStore(store: Store, log: AuditWriter): Store {
  const trails = new Map<SessionId, Held>()
  const end = (sessionId: SessionId, reason: 'released' | 'shutdown' | 'lost') => {
    trails.get(sessionId)?.trail.lost(reason)
    trails.delete(sessionId)
  }
  const picture = async (sessionId: SessionId) => {
    const session = await store.findSession(sessionId)
    const held = trails.get(sessionId)
    if (session === undefined || held === undefined || session.fence !== held.fence) return session
    const operations = await store.listOperations({ sessionId, limit: 32 })
    const mail = freshMail()
    held.trail.looked({
      session,
      operations,
      // Read when the next picture is taken: the actor asks for its mail after this one.
      get waiting() {
        return [...mail.user.values(), ...mail.notification.values()]
      },
    })
    held.mail = mail
    return session
  }
  return {
    ...auditedIntake(store, log),
    findSession: picture,
    async listMail(query) {
      const items = await store.listMail(query)
      const mail = trails.get(query.sessionId)?.mail
      for (const { number, lane } of items) {
        if (lane !== 'control') mail?.[lane].set(number, { number, lane })
      }
      return items
    },
    async acquire(request) {
      const outcome = await store.acquire(request)
      if (outcome.kind === 'acquired') {
        const { lease, abandoned } = outcome
        end(lease.sessionId, 'lost')
        const trail = new SessionTrail(log, lease, abandoned)
        trails.set(lease.sessionId, { trail, fence: lease.fence, mail: freshMail() })
      }
      return outcome
    },
    async commitReply(request) {
      const { lease, ends } = request
      if (ends !== undefined) trails.get(lease.sessionId)?.trail.endsTurn(ends.how)
      return store.commitReply(request)
    },
    async release(request) {
      const outcome = await store.release(request)
      const { sessionId } = request.lease
      const reason = request.reason === 'idle' ? 'released' : 'shutdown'
      if (outcome.kind === 'done') end(sessionId, reason)
      return outcome
    },
    async retireRunner(request) {
      for (const sessionId of [...trails.keys()]) end(sessionId, 'shutdown')
      return store.retireRunner(request)
    },
  }
}

interface Held {
  readonly trail: SessionTrail
  readonly fence: number
  mail: Mail
}

type Mail = Readonly<Record<InputLane, Map<number, { number: number; lane: InputLane }>>>

function freshMail(): Mail {
  return { user: new Map(), notification: new Map() }
}
