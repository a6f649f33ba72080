import type { SessionId } from '#core/base/ids'
import type { Reads } from '#core/store/contract'
import { NOT_ANCHORED } from '#core/store/integrity/anchor'
import { NOT_AS_WRITTEN } from '#core/store/integrity/damaged-row'
import { hasWork } from '#core/store/rules/create-session'
import { isMissingTables } from '#core/store/tables/migrated-tables'
import type { OperationRow, ReplyRow, RunnerRow, SessionRow } from '#core/store/tables/rows'
import { counted } from '../migration/hermes/findings/finding.ts'
import { isRepeat, type OwnFinding, unreadable } from './finding.ts'

/** Examines one of our stores through its own reads; changes nothing. */
export interface Examination {
  readonly reads: Reads
  readonly now: number
  /** Whether the process has certainly ended. */
  readonly isGone: (runner: RunnerRow) => boolean
  /** The agents of the configuration; null: there is no configuration. */
  readonly agents: readonly string[] | null
  readonly onSession?: (count: number) => void
}

const PAGE = 500
const CLOCK_MS_MAX = 60_000
const STUCK_MS = 10 * 60_000

export interface Examined {
  readonly sessions: number
  readonly findings: readonly OwnFinding[]
}

export async function examineStore(examination: Examination): Promise<Examined> {
  const { reads, now } = examination
  const sheet = new Sheet()
  await sheet.add(async () => await judgeChains(reads))
  const living = new Set<string>()
  await sheet.add(async () => {
    const runners = await reads.listRunners()
    for (const runner of runners) if (!examination.isGone(runner)) living.add(runner.id)
    return runners.flatMap((runner) => judgeRunner(runner, examination))
  })
  const census = new Census(examination, living)
  await sheet.add(async () => {
    for (let after: SessionId | undefined; ; ) {
      const page = await reads.listSessions({ limit: PAGE, ...(after !== undefined && { after }) })
      for (const session of page) {
        await sheet.add(async () => await census.judge(session), [session.id])
      }
      after = page.at(-1)?.id
      if (page.length < PAGE) return census.unserved()
    }
  })
  await sheet.add(async () => await judgeOutbox(reads, now))
  await sheet.add(async () => await judgeClock(reads, now))
  return { sessions: census.count, findings: sheet.findings }
}

class Sheet {
  readonly findings: OwnFinding[] = []

  /** If one part cannot be read, the others are still checked. */
  async add(
    part: () => Promise<readonly OwnFinding[]>,
    about: readonly SessionId[] = [],
  ): Promise<void> {
    try {
      for (const finding of await part()) this.findings.push(finding)
    } catch (error) {
      const finding = unreadable(error, about)
      if (!isRepeat(this.findings, finding)) this.findings.push(finding)
    }
  }
}

const ADVICE_CHAIN = 'Restore a backup; `throughline export` saves the sessions that still check.'
const ADVICE_CHANGED =
  'It is not used. Restore a backup, or remove it where it was made and make it again.'
const ADVICE_RUNNER = 'Restart its process, which then writes a row of its own.'
const ADVICE_LOST = 'Restore a newer copy. If there is none, --accept-loss continues with this one.'

async function judgeChains(reads: Reads): Promise<readonly OwnFinding[]> {
  const problems = await reads.verify({})
  return problems.map(({ sessionId, problem }) => {
    const about = { what: problem, since: null, sessionIds: sessionId === null ? [] : [sessionId] }
    if (problem.endsWith(NOT_AS_WRITTEN) && sessionId === null) {
      const isRunner = problem.startsWith('runner ')
      const advice = isRunner ? ADVICE_RUNNER : ADVICE_CHANGED
      return { ...about, kind: 'changed-row', severity: 'fault', advice }
    }
    if (isMissingTables(problem)) {
      return { ...about, kind: 'store-damaged', severity: 'fault', advice: ADVICE_CHAIN }
    }
    return problem.startsWith(NOT_ANCHORED)
      ? { ...about, kind: 'lost-commits', severity: 'fault', advice: ADVICE_LOST }
      : { ...about, kind: 'damaged-chain', severity: 'fault', advice: ADVICE_CHAIN }
  })
}

/** Counts and checks the sessions one by one, then across all of them. */
class Census {
  readonly #examination: Examination
  readonly #living: ReadonlySet<string>
  readonly #unserved = new Map<string, { count: number; ids: SessionId[] }>()
  #count = 0

  constructor(examination: Examination, living: ReadonlySet<string>) {
    this.#examination = examination
    this.#living = living
  }

  get count(): number {
    return this.#count
  }

  async judge(session: SessionRow): Promise<readonly OwnFinding[]> {
    const { agents, onSession } = this.#examination
    this.#count += 1
    if (this.#count % PAGE === 0) onSession?.(this.#count)
    if (agents?.includes(session.agent) === false && session.state === 'open') {
      const known = this.#unserved.get(session.agent) ?? { count: 0, ids: [] }
      known.count += 1
      if (hasWork(session)) known.ids.push(session.id)
      this.#unserved.set(session.agent, known)
    }
    return await judgeSession(session, this.#living, this.#examination)
  }

  unserved(): readonly OwnFinding[] {
    return [...this.#unserved].map(([agent, { count, ids }]) => unservedAgent(agent, count, ids))
  }
}

function judgeRunner(runner: RunnerRow, { now, isGone }: Examination): OwnFinding[] {
  const { id, process, startedAt, beat } = runner
  const about = { sessionIds: [], since: startedAt }
  if (isGone(runner)) {
    return [
      {
        ...about,
        ...{ kind: 'dead-runner', severity: 'warning' },
        what: `Process ${process} ended without a farewell and still counts as holder (${id}).`,
        advice: 'A process that serves the store takes over by itself; --fix dismisses it now.',
        fix: { kind: 'dismiss-runner', runner: id, beat },
      },
    ]
  }
  if (startedAt <= now + CLOCK_MS_MAX) return []
  return [
    {
      ...about,
      ...{ kind: 'lease-from-the-future', severity: 'warning' },
      what: `Process ${process} says that it began in the future (${id}).`,
      advice: 'The clocks of two hosts disagree. Leases do not depend on it; times shown do.',
    },
  ]
}

async function judgeSession(
  session: SessionRow,
  living: ReadonlySet<string>,
  { reads, now }: Examination,
): Promise<OwnFinding[]> {
  if (session.state === 'erasing') return await judgeErasure(session, { reads, now })
  if (session.state === 'gone') return []
  const { id, runner } = session
  const isHeld = runner !== null && living.has(runner)
  const about = { sessionIds: [id] }
  const findings: OwnFinding[] = []
  if (session.operation !== null && !isHeld) {
    const operation = await reads.findOperation(session.operation)
    findings.push(orphanedClaim(id, operation, session))
  }
  const at = await lastMoment(reads, session)
  const unsettled =
    session.delivered.user - session.settled.user >= 1 ||
    session.delivered.notification - session.settled.notification >= 1
  if (session.turnState === 'idle' && unsettled) {
    findings.push({
      ...about,
      ...{ kind: 'unsettled-mail', severity: 'fault', since: at },
      what: `Session ${id} has taken messages in and rests without having answered them.`,
      advice: 'Send it a message: the next turn sees all of them.',
    })
  }
  if (session.turnState === 'running' && !isHeld && at !== null && now - at > STUCK_MS) {
    findings.push({
      ...about,
      ...{ kind: 'turn-left', severity: 'warning', since: at },
      what: `Session ${id} is in the middle of a turn, but no process holds it.`,
      advice: 'Run `throughline serve` with its agent; the turn is taken up or closed by itself.',
    })
  }
  return findings
}

async function judgeErasure(
  { id }: SessionRow,
  { reads, now }: Pick<Examination, 'reads' | 'now'>,
): Promise<OwnFinding[]> {
  const at = await deletedAt(reads, id)
  if (at !== null && now - at <= STUCK_MS) return []
  return [
    {
      ...{ kind: 'erasure-left', severity: 'warning', sessionIds: [id], since: at },
      what: `Session ${id} was to be removed for good, and some of what it holds is still there.`,
      advice: 'A process that serves the store finishes it by itself; --fix does it now.',
      fix: { kind: 'finish-erasure', sessionId: id },
    },
  ]
}

/** When its removal started. Null: unknown. */
async function deletedAt(reads: Reads, sessionId: SessionId): Promise<number | null> {
  for (let after = 0; ; ) {
    const page = await reads.readAudit({ sessionId, after, limit: PAGE })
    const row = page.find(({ kind }) => kind === 'session deleted')
    if (row !== undefined || page.length < PAGE) return row?.at ?? null
    after = page.at(-1)?.cursor ?? after
  }
}

function orphanedClaim(
  id: SessionId,
  operation: OperationRow | undefined,
  session: SessionRow,
): OwnFinding {
  const isRunning = operation?.state === 'running'
  return {
    ...{ kind: 'orphaned-claim', sessionIds: [id], severity: 'warning' },
    since: operation?.startedAt ?? null,
    what: `Session ${id} has an unfinished compaction that no process is writing.`,
    advice: 'The next holder gives it up by itself; --fix does it now. Nothing was changed by it.',
    ...(isRunning && {
      fix: { kind: 'fail-operation', operation: operation.id, fence: session.fence },
    }),
  }
}

async function lastMoment(reads: Reads, { id, tail }: SessionRow): Promise<number | null> {
  if (tail === 0) return null
  const [entry] = await reads.readEntries({ sessionId: id, from: tail, to: tail })
  return entry?.at ?? null
}

function unservedAgent(agent: string, count: number, ids: readonly SessionId[]): OwnFinding {
  const waiting = ids.length === 0 ? '' : `; ${ids.length} of them have something to do`
  return {
    kind: 'unserved-agent',
    severity: ids.length === 0 ? 'note' : 'warning',
    what: `Agent ${agent} has ${counted(count, 'session')} and is not configured${waiting}.`,
    since: null,
    advice: `Add \`agents.${agent}\` to the configuration, or leave them: nothing is lost.`,
    sessionIds: ids.slice(0, 20),
  }
}

async function judgeOutbox(reads: Reads, now: number): Promise<OwnFinding[]> {
  const findings: OwnFinding[] = []
  const waiting = await reads.listReplies({ state: 'waiting', limit: PAGE })
  const stuck = waiting.filter(({ at }) => now - at > STUCK_MS)
  const dead = await reads.listReplies({ state: 'dead', limit: PAGE })
  const edges = (rows: readonly ReplyRow[]) => [...new Set(rows.map(({ edge }) => edge))].join(', ')
  const ids = (rows: readonly ReplyRow[]) => [...new Set(rows.map(({ sessionId }) => sessionId))]
  if (stuck.length > 0) {
    findings.push({
      ...{ kind: 'outbox-stuck', severity: 'warning', sessionIds: ids(stuck).slice(0, 20) },
      what: `${stuck.length} answers wait to be sent by ${edges(stuck)}.`,
      since: Math.min(...stuck.map(({ at }) => at)),
      advice: 'Run the process that serves this edge, and look into its log.',
    })
  }
  if (dead.length > 0) {
    findings.push({
      ...{ kind: 'outbox-dead', severity: 'fault', sessionIds: ids(dead).slice(0, 20) },
      what: `${dead.length} answers could not be sent by ${edges(dead)} and were given up.`,
      since: Math.min(...dead.map(({ at }) => at)),
      advice: 'They are in the transcripts; `throughline show` prints them.',
    })
  }
  return findings
}

async function judgeClock(reads: Reads, now: number): Promise<OwnFinding[]> {
  const { commits } = await reads.readStore()
  const [newest] = await reads.readAudit({ after: Math.max(0, commits - 1), limit: 1 })
  if (newest === undefined || newest.at <= now + CLOCK_MS_MAX) return []
  return [
    {
      ...{ kind: 'clock', severity: 'warning', sessionIds: [], since: newest.at },
      what: 'The newest commit was made in the future, as this host counts.',
      advice: 'Set the clock. Order and leases do not depend on it; timers and times shown do.',
    },
  ]
}
