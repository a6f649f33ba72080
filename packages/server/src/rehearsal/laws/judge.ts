import type { Entry } from '#core/store/tables/rows'
import type { LoopFigures } from '../process-messages.ts'
import { KNOWN, LOOKED_UP, type RecordedRequest } from '../stage/model.ts'
import { CAST, policyOf } from '../terms.ts'
import type { LeaseRecord } from '../watcher.ts'
import { Findings, LOOP_MS_MAX, OVERLOAD_MS, type Verdict } from './laws.ts'
import { agentOf, marksIn, type TrackedMessage } from './ledger.ts'
import {
  judgeEffects,
  judgeReplies,
  judgeSends,
  judgeStored,
  type RehearsedSession,
} from './transcript-laws.ts'

/** All evidence, from independent sources. Judging it is pure. */
export interface Evidence {
  readonly agents: readonly string[]
  readonly letters: readonly TrackedMessage[]
  /** Acknowledged stops, by agent. */
  readonly stops: ReadonlyMap<string, number>
  readonly sessions: readonly KeptSession[]
  readonly wire: RecordedRequest
  readonly windowTokens: number
  /** The same sessions and those of the stage, with all their rows in the store. */
  readonly stored: readonly RehearsedSession[]
  /** Runners whose sessions others may take, because they were killed, frozen or late. */
  readonly lapsed: ReadonlySet<string>
  readonly leases: readonly LeaseRecord[]
  readonly recoveredTwice: readonly string[]
  /** One line per reply that was sent. */
  readonly sent: readonly string[]
  /** Parcels in the order in which they were handed over. */
  readonly effects: readonly string[]
  readonly asked: readonly Asked[]
  /** A planted bug was found, so the rehearsal ended early. */
  readonly isCutShort: boolean
  /** What did not settle in time. */
  readonly unsettled: readonly string[]
  readonly failures: readonly string[]
  readonly loops: ReadonlyMap<string, LoopFigures>
  /** The largest delay of an idle thread. */
  readonly calibrationMsMax: number
}

export interface KeptSession {
  readonly agent: string
  readonly entries: readonly Pick<Entry, 'number' | 'kind' | 'meta' | 'body'>[]
  readonly compactions: number
  /** Compactions that were interrupted from outside. */
  readonly torn: number
  /** Mail admitted while a compaction ran. */
  readonly meanwhile: ReadonlySet<number>
}

export interface Asked {
  readonly agent: string
  /** The message that was asked about; null: the question was whether anything is open. */
  readonly letter: TrackedMessage | null
  /** No compaction covers it, so it need not be looked up. */
  readonly isReproduced: boolean
  /** The text that the answer must contain. */
  readonly wanted: string
  readonly answer: string
}

export interface Tally {
  readonly sent: number
  readonly acknowledged: number
  readonly answered: number
  readonly stopped: number
  readonly meanwhile: number
  readonly asked: number
  /** Answers that needed `recall`. */
  readonly lookedUp: number
}

/** `findings`: what was found broken during the run. */
export function judge(
  evidence: Evidence,
  findings = new Findings(),
): { verdicts: readonly Verdict[]; tally: Tally } {
  const letters = Map.groupBy(evidence.letters, ({ agent }) => agent)
  let answered = 0
  let stopped = 0
  let meanwhile = 0
  for (const agent of evidence.agents) {
    const own = letters.get(agent) ?? []
    const acknowledged = own
      .filter(({ mail }) => mail !== null)
      .toSorted((left, right) => (left.order ?? 0) - (right.order ?? 0))
    const session = evidence.sessions.find((each) => each.agent === agent)
    if (session === undefined) {
      findings.broken('kept', `${agent} has no session`)
      continue
    }
    const stored = evidence.stored.find(({ row }) => row.id === agent)
    // Mail that waits or is being answered is not lost; another law covers unsettled mail.
    const waiting = new Set(
      stored?.mail.filter(({ state }) => state === 'pending').map((item) => Number(item.number)),
    )
    const taken = acknowledged.filter(({ mail }) => !waiting.has(mail ?? 0))
    judgeKept(session, taken, findings)
    const ends = judgeAnswered(session, stored?.row.turnState !== 'running', findings)
    answered += acknowledged.filter(({ key }) => ends.get(key) === 'answered').length
    stopped += acknowledged.filter(({ key }) => ends.get(key) === 'stopped').length
    const stops = evidence.stops.get(agent) ?? 0
    const stoppedTurns = session.entries.filter((entry) => endOf(entry) === 'stopped').length
    // If a message may interrupt, no stop is needed.
    if (policyOf(agent) !== 'interrupt' && stoppedTurns > stops) {
      findings.broken('answered', `${agent}: ${stoppedTurns} turns were stopped by ${stops} stops`)
    }
    const received = acknowledged.filter(({ mail }) => session.meanwhile.has(mail ?? 0)).length
    meanwhile += received
    const isDue = !evidence.isCutShort
    if (isDue && session.compactions === 0) findings.broken('compacted', `${agent} never was`)
    else if (isDue && received === 0)
      findings.broken('compacted', `${agent} received nothing meanwhile`)
    if (session.torn > 0) findings.broken('untorn', `${agent}: ${session.torn} were broken off`)
    judgeReproduced(acknowledged, ends, evidence.wire, findings)
  }
  for (const { agent } of evidence.sessions) {
    const isKnown = evidence.agents.includes(agent) || CAST[agent] !== undefined
    if (!isKnown) findings.broken('kept', `${agent} is nobody's session`)
  }
  for (const stored of evidence.stored) {
    judgeStored(stored, findings)
    judgeAbandoned(stored, evidence, findings)
    if (!evidence.isCutShort) judgeReplies(stored, findings)
  }
  judgeSends(evidence.sent, findings)
  for (const { sessionId, runner, ended } of evidence.leases) {
    if (ended !== 'lost' || evidence.lapsed.has(runner)) continue
    findings.broken('held', `${sessionId} was taken from ${runner}, which lives`)
  }
  for (const text of evidence.recoveredTwice) findings.broken('written', `recovered twice: ${text}`)
  for (const stray of evidence.wire.strays) findings.broken('shown', stray)
  const { tokensMax } = evidence.wire
  if (tokensMax > evidence.windowTokens) {
    findings.broken('fits', `a request of ${tokensMax} tokens, window ${evidence.windowTokens}`)
  }
  judgeEffects(evidence.effects, findings)
  for (const each of evidence.asked) judgeAnswer(each, findings)
  for (const text of evidence.unsettled) findings.broken('settled', text)
  for (const text of evidence.failures) findings.broken('sound', text)
  for (const [agent, { ownMsMax }] of evidence.loops) {
    if (ownMsMax <= LOOP_MS_MAX) continue
    const offence = `${agent} for ${ownMsMax} ms`
    // The same work takes longer on two threads of one core, or with shared caches.
    if (evidence.calibrationMsMax <= OVERLOAD_MS) findings.broken('loop', offence)
    else findings.open('loop', `${offence}, on a machine that is overloaded`)
  }
  const tally = {
    sent: evidence.letters.filter(({ order }) => order !== null).length,
    acknowledged: evidence.letters.filter(({ mail }) => mail !== null).length,
    ...{ answered, stopped, meanwhile },
    asked: evidence.asked.length,
    lookedUp: evidence.asked.filter(({ answer }) => answer.startsWith(LOOKED_UP)).length,
  }
  const isOverloaded = evidence.calibrationMsMax > OVERLOAD_MS
  return { verdicts: findings.verdicts({ isOverloaded }), tally }
}

/**
 * A compaction may be abandoned only with its owner: one that was killed, frozen or late, and whose
 * session was taken from it or released by it. The next owner still delivers everything.
 */
function judgeAbandoned(
  { row, entries, mail, operations }: RehearsedSession,
  { leases, lapsed, isCutShort }: Evidence,
  findings: Findings,
): void {
  const abandoned = operations.filter(({ state }) => state === 'abandoned')
  for (const { id, fence } of abandoned) {
    const owner = leases.find((each) => each.sessionId === row.id && each.fence === fence)
    const isOut = owner?.ended === 'lost' || owner?.ended === 'shutdown'
    if (isOut && lapsed.has(owner.runner)) continue
    const who = owner === undefined ? 'nobody known' : `${owner.runner}, which lives`
    findings.broken('untorn', `${row.id}: ${id} was abandoned by ${who}`)
  }
  if (abandoned.length === 0 || row.state !== 'open') return
  const taken = new Set(entries.map(({ meta }) => ('mail' in meta ? meta.mail : 0)))
  for (const { number, lane, state } of mail) {
    const isDue =
      lane !== 'control' && state !== 'withdrawn' && !(isCutShort && state === 'pending')
    if (!isDue || taken.has(number)) continue
    findings.broken(
      'untorn',
      `${row.id}: mail ${number} was left behind by an abandoned compaction`,
    )
  }
}

function judgeKept(
  session: KeptSession,
  letters: readonly TrackedMessage[],
  findings: Findings,
): void {
  const { agent } = session
  const found = new Map<string, number[]>()
  for (const entry of session.entries) {
    const key = letterIn(entry)
    if (key === null) continue
    found.set(key, [...(found.get(key) ?? []), entry.number])
    const lane = 'lane' in entry.meta ? entry.meta.lane : null
    const letter = letters.find((each) => each.key === key)
    const mail = 'mail' in entry.meta ? entry.meta.mail : null
    if (letter === undefined) findings.broken('kept', `${key} in ${agent} was never acknowledged`)
    else if (letter.mail !== mail || letter.lane !== lane) {
      const problem = `${key} was acknowledged as ${letter.lane} mail ${letter.mail}`
      findings.broken('kept', `${problem} and is ${lane} mail ${mail} in entry ${entry.number}`)
    }
  }
  const newest = { user: 0, notification: 0 }
  for (const { key, lane } of letters) {
    const [entry, ...more] = found.get(key) ?? []
    if (entry === undefined) {
      findings.broken('kept', `${key} was acknowledged and is not in the transcript of ${agent}`)
      continue
    }
    if (more.length > 0) findings.broken('kept', `${key} is in entries ${[entry, ...more]}`)
    if (entry < newest[lane]) findings.broken('kept', `${key} came before one sent earlier`)
    newest[lane] = Math.max(newest[lane], entry)
  }
}

/** How the turn of each message ended: the first turn whose model had it, or that gave up. */
function judgeAnswered(
  session: KeptSession,
  isAtRest: boolean,
  findings: Findings,
): ReadonlyMap<string, string> {
  const ends = new Map<string, string>()
  let open: { key: string; number: number }[] = []
  let seen = 0
  let hasReply = false
  for (const entry of session.entries) {
    const key = letterIn(entry)
    if (key !== null) open.push({ key, number: entry.number })
    if (entry.kind === 'assistant' && 'upto' in entry.meta) {
      seen = Math.max(seen, entry.meta.upto)
      hasReply = entry.meta.calls.length === 0
    }
    const ended = endOf(entry)
    if (ended === null) continue
    const isOver = ({ number }: { number: number }) => number <= seen || ended === 'failed'
    for (const each of open.filter(isOver)) {
      ends.set(each.key, ended)
      if (ended === 'failed') findings.broken('answered', `the turn of ${each.key} was given up`)
      else if (ended === 'answered' && !hasReply) {
        findings.broken('answered', `the turn of ${each.key} ended without a reply`)
      }
    }
    open = open.filter((each) => !isOver(each))
    hasReply = false
  }
  const unanswered = isAtRest ? open : []
  for (const { key } of unanswered) findings.broken('answered', `no turn has answered ${key}`)
  return ends
}

function judgeReproduced(
  letters: readonly TrackedMessage[],
  ends: ReadonlyMap<string, string>,
  wire: RecordedRequest,
  findings: Findings,
): void {
  for (const { key, agent } of letters) {
    if (wire.seen.has(key) || ends.get(key) !== 'answered') continue
    findings.broken('shown', `${key} was never put before the model of ${agent}`)
  }
}

function judgeAnswer(
  { agent, letter, isReproduced, wanted, answer }: Asked,
  findings: Findings,
): void {
  const law = letter === null ? 'open' : 'remembered'
  const what = letter === null ? 'what is open' : letter.key
  if (!answer.includes(wanted)) {
    findings.broken(law, `${agent} about ${what}: ${JSON.stringify(answer.slice(0, 200))}`)
  } else if (isReproduced && !answer.startsWith(KNOWN)) {
    findings.broken(law, `${agent} had to look up ${what}, which no compaction covers`)
  }
}

function letterIn({ kind, body }: KeptSession['entries'][number]): string | null {
  return kind === 'input' && body !== null ? (marksIn(body)[0] ?? null) : null
}

function endOf({ kind, meta }: KeptSession['entries'][number]): string | null {
  return kind === 'turn' && 'ended' in meta ? meta.ended : null
}

/**
 * The messages that an agent is asked about: the newest one sent during a compaction, the oldest,
 * and the first that the compaction in effect does not cover.
 */
export function lettersToAsk(
  letters: readonly TrackedMessage[],
  { agent, meanwhile, entries }: Pick<KeptSession, 'agent' | 'meanwhile' | 'entries'>,
  covers: number,
): readonly TrackedMessage[] {
  const own = letters.filter(({ key, mail }) => agentOf(key) === agent && mail !== null)
  const received = own.filter(({ mail }) => meanwhile.has(mail ?? 0))
  const behind = entries.find((entry) => entry.number > covers && letterIn(entry) !== null)
  const first = own.filter(({ key }) => behind !== undefined && key === letterIn(behind))
  return [
    ...new Set([...first, ...received.slice(0, OLDEST_ASKED), ...received.slice(-NEWEST_ASKED)]),
  ]
}

const OLDEST_ASKED = 2
const NEWEST_ASKED = 3
