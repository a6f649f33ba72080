import type { LogEvent } from '../read/log-event.ts'
import { counted, type Finding, finding, lineEvidence } from './finding.ts'
import { isConnectionError, isTimeout } from './log-faults.ts'

/**
 * The poisoned client: a summary times out, which closes the client; the cache keeps handing the
 * closed client out, so every later auxiliary call on that route fails at once with a connection
 * error, while the conversation itself, on its own client, continues.
 */
interface Sickness {
  readonly route: string
  readonly timeout: LogEvent
  readonly errors: LogEvent[]
  /** Turns that the main model answered during that time. */
  answered: number
  /** Errors that followed the call at once. */
  quick: number
}

const QUICK_SECONDS = 5
const RELATED_SECONDS_MAX = 6 * 3_600
const LINES_MAX = 50

export function findPoisonedClients(events: readonly LogEvent[]): Finding[] {
  const lastCall = new Map<string | null, LogEvent>()
  const sick = new Map<string, Sickness>()
  const ended: Sickness[] = []
  for (const event of events) {
    const { fact } = event
    if (fact.kind === 'using') {
      lastCall.set(event.tag, event)
      lastCall.set(null, event)
    }
    if (fact.kind === 'turn-ended' && fact.isAnswered) {
      for (const one of sick.values()) one.answered += 1
    }
    const call = lastCall.get(event.tag) ?? lastCall.get(null)
    const route = call?.fact.kind === 'using' ? call.fact.route : null
    if (call === undefined || route === null) continue
    const sickness = sick.get(route)
    if (fact.kind === 'summary-written' && sickness !== undefined) {
      ended.push(sickness)
      sick.delete(route)
    }
    const error = fact.kind === 'summary-failed' ? fact.error : null
    if (error !== null && isTimeout(error)) {
      if (sickness !== undefined) ended.push(sickness)
      sick.set(route, { route, timeout: event, errors: [], answered: 0, quick: 0 })
    }
    const isBroken =
      fact.kind === 'connection-failed' || (error !== null && isConnectionError(error))
    if (isBroken && sickness !== undefined && isRelated(sickness.timeout, event)) {
      sickness.errors.push(event)
      if (wait(call, event) <= QUICK_SECONDS) sickness.quick += 1
    }
  }
  return [...ended, ...sick.values()].filter(({ errors }) => errors.length > 0).map(tell)
}

function isRelated(timeout: LogEvent, later: LogEvent): boolean {
  return timeout.at === null || later.at === null || later.at - timeout.at <= RELATED_SECONDS_MAX
}

function wait(call: LogEvent, failure: LogEvent): number {
  return call.at === null || failure.at === null ? Number.POSITIVE_INFINITY : failure.at - call.at
}

function tell({ route, timeout, errors, answered, quick }: Sickness): Finding {
  const tags = [timeout, ...errors].flatMap(({ tag }) => (tag === null ? [] : [tag]))
  const isSure = quick > 0 && answered > 0
  return finding({
    kind: 'poisoned-client',
    severity: 'harm',
    certainty: isSure ? 'certain' : 'suspected',
    sessionIds: [...new Set(tags)],
    title: `One timeout broke the auxiliary client: ${counted(errors.length, 'later call')} failed on its connection`,
    explanation:
      `A summary on ${route} ran out of time. That closes the client, and its cache goes on handing out the closed one: ` +
      `${counted(errors.length, 'auxiliary call')} on the same route then failed with a connection error` +
      (quick > 0 ? `, ${quick} of them within ${QUICK_SECONDS} seconds` : '') +
      (answered > 0
        ? `, while the main model answered ${counted(answered, 'turn')} in the same time. It was not the network.`
        : '. The lines do not show whether the main model answered meanwhile; if it did not, it may have been the network.'),
    advice:
      'Restart the gateway to get a fresh client; raise auxiliary.compression.timeout. Hermes evicts such clients since 10 May 2026.',
    from: timeout.at,
    to: errors.at(-1)?.at ?? null,
    clock: 'log',
    facts: { route, errors: errors.length, quick, turnsAnswered: answered },
    lines: [timeout, ...errors].slice(0, LINES_MAX).map(lineEvidence),
  })
}
