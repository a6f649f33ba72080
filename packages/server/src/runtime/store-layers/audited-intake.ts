import type { AuditWriter } from '#core/audit/log/log'
import type { SessionId } from '#core/base/ids'
import type { Store } from '#core/store/contract'

/**
 * A store that writes the audit lines for creating sessions and admitting messages; a session's
 * actor writes those of its holder.
 */
export function auditedIntake(store: Store, log: AuditWriter): Store {
  const born = (sessionId: string, operationId: string, reason: string) =>
    log.write({ kind: 'session created', sessionId, operationId, entry: 0, reason })
  const admitted = (sessionId: SessionId, mail: number, lane: string) =>
    log.write({
      kind: 'message admitted',
      sessionId,
      mailbox: { from: mail, to: mail },
      reason: lane,
    })
  return {
    ...store,
    async createSession(request) {
      const outcome = await store.createSession(request)
      if (outcome.kind === 'created') born(outcome.session.id, request.operation, 'created')
      return outcome
    },
    async startAfresh(request) {
      const outcome = await store.startAfresh(request)
      if (outcome.kind === 'started') born(outcome.sessionId, request.operation, 'afresh')
      return outcome
    },
    async fork(request) {
      const outcome = await store.fork(request)
      if (outcome.kind === 'forked') born(outcome.session.id, request.operation, 'forked')
      return outcome
    },
    async admit(request) {
      const outcome = await store.admit(request)
      if (outcome.kind === 'admitted') admitted(outcome.sessionId, outcome.mail, request.lane)
      return outcome
    },
    async fireSchedule(request) {
      const outcome = await store.fireSchedule(request)
      if (outcome.kind === 'fired') admitted(outcome.sessionId, outcome.mail, 'notification')
      return outcome
    },
    async withdraw(request) {
      const outcome = await store.withdraw(request)
      const { sessionId, mail } = request
      if (outcome.kind === 'withdrawn') {
        const mailbox = { from: mail, to: mail }
        log.write({ kind: 'message withdrawn', sessionId, mailbox, reason: 'withdrawn' })
      }
      return outcome
    },
  }
}
