import type { LogEvent, LogFact } from '../read/log-event.ts'

/**
 * Compactions as logged. The bracket may name the wrong session (that is the fault), so it cannot
 * decide which lines belong together. A `done` is matched with the open `started` that counted the
 * same messages; of several, the one of the same session, then of the same bracket, then the most
 * recent.
 */
export interface Operation {
  readonly started: LogEvent & { readonly fact: LogFact & { kind: 'started' } }
  readonly done: LogEvent & { readonly fact: LogFact & { kind: 'done' } }
  /** Failures to write the summary that were logged between the two lines. */
  readonly failures: readonly LogEvent[]
  /** More than one open `started` matched equally well. */
  readonly isAmbiguous: boolean
}

export interface Operations {
  readonly pairs: readonly Operation[]
  /** A `done` without a `started` in the log. */
  readonly unmatched: readonly Operation['done'][]
}

/** A start without an end for this long was given up; later lines must not match it. */
const OPEN_SECONDS_MAX = 3_600
const OPEN_MAX = 1_000

interface Open {
  readonly event: Operation['started']
  readonly failures: LogEvent[]
}

export function pairOperations(events: readonly LogEvent[]): Operations {
  let open: Open[] = []
  const pairs: Operation[] = []
  const unmatched: Operation['done'][] = []
  for (const event of events) {
    const { fact } = event
    if (fact.kind === 'started') {
      open = open.filter((other) => isFresh(other.event, event)).slice(-OPEN_MAX)
      open.push({ event: { ...event, fact }, failures: [] })
    }
    if (fact.kind === 'summary-failed') findSufferer(open, event)?.failures.push(event)
    if (fact.kind === 'done') {
      const done = { ...event, fact }
      const candidates = open.filter(({ event: other }) => isFresh(other, event))
      const { best, isAmbiguous } = choose(candidates, done)
      if (best === undefined) unmatched.push(done)
      else {
        open = open.filter((other) => other !== best)
        pairs.push({ started: best.event, done, failures: best.failures, isAmbiguous })
      }
    }
  }
  return { pairs, unmatched }
}

function isFresh(started: LogEvent, later: LogEvent): boolean {
  return started.at === null || later.at === null || later.at - started.at <= OPEN_SECONDS_MAX
}

function choose(
  candidates: readonly Open[],
  done: Operation['done'],
): { readonly best: Open | undefined; readonly isAmbiguous: boolean } {
  const own = candidates.findLast(({ event }) => event.fact.sessionId === done.fact.sessionId)
  if (own !== undefined) return { best: own, isAmbiguous: false }
  const same = candidates.filter(({ event }) => event.fact.messages === done.fact.before)
  const tagged = same.filter(
    ({ event }) =>
      done.tag !== null && (event.tag === done.tag || event.fact.sessionId === done.tag),
  )
  const pool = tagged.length > 0 ? tagged : same
  return { best: pool.at(-1), isAmbiguous: pool.length > 1 }
}

function findSufferer(open: readonly Open[], failure: LogEvent): Open | undefined {
  const own = open.findLast(
    ({ event }) =>
      failure.tag !== null && (event.tag === failure.tag || event.fact.sessionId === failure.tag),
  )
  return own ?? (open.length === 1 || failure.tag === null ? open.at(-1) : undefined)
}
