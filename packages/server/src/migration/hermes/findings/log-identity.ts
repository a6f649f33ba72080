import type { LogEvent } from '../read/log-event.ts'
import { type Finding, finding, lineEvidence } from './finding.ts'
import type { Operation, Operations } from './operations.ts'

/**
 * Anomalies A and B in the log: a compaction that ends under another id than it began, and one that
 * is logged in the bracket of an unrelated session.
 */
export interface LogView {
  readonly operations: Operations
  readonly events: readonly LogEvent[]
  /** Whether the store has both ids in one conversation. */
  readonly isSameConversation: (one: string, other: string) => boolean
  /** What the store has of a session; null: it does not know the session. */
  readonly heldOf: (sessionId: string) => Held | null
}

export interface Held {
  /** Its rows look like the result of a rewrite. */
  readonly isRewritten: boolean
  readonly hasToolRows: boolean
}

export function findLogIdentityFaults(view: LogView): Finding[] {
  const family = new Family(view)
  const followed = new Set<string>()
  for (const { fact } of view.events) {
    if (fact.kind === 'split') followed.add(`${fact.from} ${fact.to}`)
  }
  return [
    ...view.operations.pairs.flatMap((operation) => [
      ...identityChange(operation, followed),
      ...foreignTag(operation, family, view.heldOf(operation.started.fact.sessionId)),
    ]),
    ...view.operations.unmatched.flatMap(lateBirth),
  ]
}

/** The ids that the log and the store link into one conversation. */
class Family {
  readonly #parent = new Map<string, string>()
  readonly #inStore: LogView['isSameConversation']

  constructor({ operations, events, isSameConversation }: LogView) {
    this.#inStore = isSameConversation
    for (const { started, done } of operations.pairs) {
      this.#join(done.fact.sessionId, started.fact.sessionId)
    }
    for (const { fact } of events) if (fact.kind === 'split') this.#join(fact.to, fact.from)
  }

  isOne(one: string, other: string): boolean {
    return this.#root(one) === this.#root(other) || this.#inStore(one, other)
  }

  #join(child: string, parent: string): void {
    const [one, other] = [this.#root(child), this.#root(parent)]
    if (one !== other) this.#parent.set(one, other)
  }

  #root(id: string): string {
    let at = id
    for (let up = this.#parent.get(at); up !== undefined; up = this.#parent.get(at)) at = up
    return at
  }
}

function identityChange(operation: Operation, followed: ReadonlySet<string>): Finding[] {
  const { started, done, isAmbiguous } = operation
  const from = started.fact.sessionId
  const to = done.fact.sessionId
  if (from === to) return []
  const isFollowed = followed.has(`${from} ${to}`)
  const { before, after } = done.fact
  return [
    finding({
      kind: 'identity-changed',
      severity: isFollowed ? 'note' : 'harm',
      certainty: isAmbiguous ? 'suspected' : 'certain',
      sessionIds: [from, to],
      title: 'A compaction began under one session id and ended under another',
      explanation:
        `It started on ${from} with ${before} messages and was done as ${to} with ${after}. ` +
        `Compaction closed the first session and opened the second${bornBy(to)} ` +
        (isFollowed
          ? 'The gateway noticed the split and moved its route, so the change did no harm by itself.'
          : 'Nothing in the log says that the gateway followed. Until it does, messages are delivered to the old id, where the agent no longer reads: it then reports "no record" of them in good faith.') +
        (isAmbiguous
          ? ' Another compaction that was open at the time counted as many messages, so the pairing is the likeliest, not the only one.'
          : ''),
      advice: `Look at ${from} for rows after its closing and at the route of this conversation; both belong to ${to} now.`,
      from: started.at,
      to: done.at,
      clock: 'log',
      facts: { from, to, messagesBefore: before, messagesAfter: after, routeFollowed: isFollowed },
      lines: [started, done].map(lineEvidence),
    }),
  ]
}

function bornBy(id: string): string {
  return /_[0-9a-f]{6}$/.test(id)
    ? '; the six hex digits of the new id are those that compaction gives, the gateway gives eight.'
    : '.'
}

function foreignTag({ started, done }: Operation, family: Family, held: Held | null): Finding[] {
  const sessionId = started.fact.sessionId
  const isForeign = (tag: string | null) => tag !== null && !family.isOne(tag, sessionId)
  const tag = isForeign(started.tag) ? started.tag : isForeign(done.tag) ? done.tag : null
  if (tag === null) return []
  const { before, after, isNewForm } = done.fact
  const isInPlace = !isNewForm && sessionId === done.fact.sessionId
  const isRewrite = isInPlace && held?.isRewritten !== false
  return [
    finding({
      kind: 'foreign-tag',
      severity: isRewrite ? 'harm' : 'risk',
      certainty: 'certain',
      sessionIds: [sessionId, tag],
      title: `A compaction of one session is logged under another session's name`,
      explanation:
        `The lines stand in the bracket of ${tag} and speak of ${sessionId}. The bracket belongs to the thread, ` +
        'nothing clears it, and compaction outside of a turn runs on a thread that served somebody else before: one session did not compact the other. ' +
        (isRewrite
          ? `That the id stays the same and only ${before} messages were counted fits the gateway's own compaction of that time, ` +
            `which deleted every row of the session and wrote ${after} back. So up to ${before - after} messages${held?.hasToolRows ? '' : ', and all tool rows,'} are gone from the store.`
          : isInPlace
            ? 'The rows of the session in the store do not look like the result of a rewrite: nothing is lost, and only the log is wrong.'
            : 'This version archives rows instead of deleting them, so only the log is wrong: do not trust its brackets.'),
      advice: isRewrite
        ? `Run the doctor on the store: rows of ${sessionId} a microsecond apart, with a summary among them, prove the rewrite.`
        : 'Go by "session=" in these lines, never by the bracket.',
      from: started.at,
      to: done.at,
      clock: 'log',
      facts: {
        sessionId,
        tag,
        messagesBefore: before,
        messagesAfter: after,
        rewriteLikely: isRewrite,
      },
      lines: [started, done].map(lineEvidence),
    }),
  ]
}

/** An id as old as its line and without a known start: the child of a change of identity. */
function lateBirth(done: Operations['unmatched'][number]): Finding[] {
  const { sessionId, before, after } = done.fact
  const born = bornAt(sessionId)
  const isNew = born !== null && done.at !== null && Math.abs(done.at - born) <= 5
  const tag = done.tag !== null && done.tag !== sessionId ? done.tag : null
  if (!isNew || tag === null) return []
  return [
    finding({
      kind: 'identity-changed',
      severity: 'harm',
      certainty: 'suspected',
      sessionIds: [tag, sessionId],
      title: 'A compaction ended under an id that was made at that moment',
      explanation:
        `${sessionId} is as old as the line that reports it done (${before} messages became ${after}), and the log holds no start for it. ` +
        `By its bracket the compaction began as ${tag}; the line that says so is not in these logs.`,
      advice:
        'Add the log that was rotated away, and look at the old id for rows after its closing.',
      from: done.at,
      to: done.at,
      clock: 'log',
      facts: { from: tag, to: sessionId, messagesBefore: before, messagesAfter: after },
      lines: [lineEvidence(done)],
    }),
  ]
}

const BORN = /^(\d{4})(\d{2})(\d{2})_(\d{2})(\d{2})(\d{2})_/

/** Ids begin with their local creation time, by the same clock as the log. */
export function bornAt(id: string): number | null {
  const match = BORN.exec(id)
  if (match === null) return null
  const [year, month, day, hours, minutes, seconds] = match.slice(1).map(Number)
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hours, minutes, seconds) / 1_000
}
