import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AuditReport, auditLogs } from '#core/audit/audit'
import type { Store } from '#core/store/contract'
import { MachineCalibration } from './calibration.ts'
import { Crowd } from './crowd.ts'
import { NO_FAULTS } from './fault-plan.ts'
import { findUnfinished, readKept, readLines, readStored } from './kept.ts'
import { type Evidence, judge, type Tally } from './laws/judge.ts'
import { Findings, verdictOf } from './laws/laws.ts'
import type { Phase, RehearsalFigures, RehearsalReport, RehearsalRequest } from './report.ts'
import { EFFECTS_FILE } from './stage/agent-terms.ts'
import type { ProcessEvents, ProcessHandle } from './stage/process-handle.ts'
import { SceneRunner } from './stage/scene-runner.ts'
import { openLocation, removeLocation, type StoreLocation } from './stage/store-location.ts'
import { CAST, SENT_FILE } from './terms.ts'
import { Watcher } from './watcher.ts'

const PICTURE_MS = 500
const SETTLE_MS_MAX = 45_000
/** A lease may seem expired by this much if a thread was only late. */
const OVERDUE_MS_MAX = 250

/**
 * One rehearsal: agents start, are driven and disturbed for the given time while scenes run beside
 * them, settle, are asked what they know, end, and are judged. No process or file is left behind,
 * whatever happens. Rejects with the signal's reason when it is aborted.
 */
export async function rehearse(
  request: RehearsalRequest,
  signal: AbortSignal,
): Promise<RehearsalReport> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-rehearsal-'))
  const location = request.location ?? { kind: 'sqlite', path: join(folder, 'store.db') }
  const run = new Rehearsal({ request, location, folder })
  try {
    const evidence = await run.play(signal)
    const audit = await run.audit()
    const { verdicts, tally } = judge(evidence, run.findings)
    const verdict = audit.holds ? verdictOf(verdicts) : 'broken'
    const figures = { ...tally, ...run.figures() }
    return {
      verdict,
      holds: verdict === 'holds',
      verdicts,
      audit,
      figures,
      folder: request.isKept ? folder : null,
    }
  } finally {
    await run.close()
    if (!request.isKept) {
      rmSync(folder, { recursive: true, force: true })
      await removeLocation(location)
    }
  }
}

interface RehearsalParts {
  readonly request: RehearsalRequest
  readonly location: StoreLocation
  readonly folder: string
}

class Rehearsal {
  readonly findings = new Findings()
  readonly #parts: RehearsalParts
  readonly #calibration = new MachineCalibration()
  readonly #startedAt = performance.now()
  readonly #failures: string[] = []
  readonly #waits = new Map<string, number>()
  readonly #loadBefore = loadavg()[0] ?? 0
  #store: Store | null = null
  #crowd: Crowd | null = null
  #sceneRunner: SceneRunner | null = null
  #watcher: Watcher | null = null
  #phase: Phase = 'starting'

  constructor(parts: RehearsalParts) {
    this.#parts = parts
  }

  async play(signal: AbortSignal): Promise<Evidence> {
    const drawing = setInterval(() => this.#draw(), PICTURE_MS)
    const ended = new AbortController()
    let watching: Promise<void> | undefined
    try {
      const { request, location, folder } = this.#parts
      const store = await openLocation(location)
      this.#store = store
      const events = this.#events()
      const onFailure = (text: string) => this.#failures.push(text)
      const crowd = await Crowd.open({ request, location, folder, events, onFailure })
      this.#crowd = crowd
      const { findings } = this
      const { env, sabotage, acts } = request
      const sceneRunner = await SceneRunner.open({
        ...{ location, folder, env, sabotage, acts, store, findings, events },
        others: crowd.names,
      })
      this.#sceneRunner = sceneRunner
      const watcher = new Watcher(store, (agent) => crowd.compacting(agent))
      this.#watcher = watcher
      await crowd.begin(signal)
      watching = watcher.run(ended.signal)
      // Awaited at the end; until then a rejection must not count as unhandled.
      watching.catch(() => {})
      this.#enter('driving')
      // If the stage has already found the planted bug, the crowd need not find it.
      const isReproduced = () => sabotage !== null && sceneRunner.isOver && findings.arePlain
      await together(signal, [
        (both) => crowd.drive(watcher, isReproduced, both),
        (both) => sceneRunner.play(both),
      ])
      signal.throwIfAborted()
      const unsettled = isReproduced() ? [] : await this.#settle(store, signal)
      this.#enter('asking')
      // An agent that has not settled would not answer, and is judged for that already.
      const isAsked = unsettled.length === 0 && !isReproduced()
      const asked = isAsked ? await crowd.examine(store, watcher) : []
      signal.throwIfAborted()
      const isCutShort = isReproduced()
      const found = { unsettled, asked, isCutShort }
      return await this.#gather({ crowd, watcher, store }, found)
    } finally {
      ended.abort()
      await watching
      clearInterval(drawing)
    }
  }

  /** Audits all logs against the store, after all writers have ended. */
  async audit(): Promise<AuditReport> {
    const logs = join(this.#parts.folder, 'audit')
    // A process that was killed before its first line leaves an empty log.
    const paths = readdirSync(logs)
      .map((file) => join(logs, file))
      .filter((path) => statSync(path).size > 0)
    return await auditLogs({ paths, witness: this.#store })
  }

  figures(): Omit<RehearsalFigures, keyof Tally> {
    const { agents, windowTokens } = this.#parts.request
    const watcher = this.#watcher
    const wire = this.#crowd?.wire
    const loops = this.#handles.map(({ loop }) => loop)
    return {
      ...{ agents, windowTokens },
      seconds: Math.round((this.#crowd?.drivenMs ?? 0) / 1_000),
      ...(this.#crowd?.faultFigures ?? NO_FAULTS),
      scenes: this.#sceneRunner?.scenes ?? 0,
      compactions: watcher?.sum((each) => each.compactions) ?? 0,
      compactionsFailed: watcher?.sum((each) => each.failed) ?? 0,
      takeOvers: watcher?.sum((each) => each.takeOvers) ?? 0,
      turns: watcher?.sum((each) => each.turns) ?? 0,
      waitsForCompaction: this.#waits.get('waiting-for-compaction') ?? 0,
      waitsForModel: this.#waits.get('waiting-for-model') ?? 0,
      requests: wire?.requests ?? 0,
      requestTokensMax: wire?.tokensMax ?? 0,
      loopOwnMsMax: Math.max(0, ...loops.map(({ ownMsMax }) => ownMsMax)),
      loopDelayMsMax: Math.max(0, ...loops.map(({ delayMsMax }) => delayMsMax)),
      calibrationMsMax: this.#calibration.delayMsMax,
      load: Math.max(this.#loadBefore, loadavg()[0] ?? 0),
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#handles.map((handle) => handle.remove()))
    await this.#crowd?.close()
    await this.#sceneRunner?.close()
    await this.#store?.close()
    await this.#calibration.close()
  }

  get #handles(): readonly ProcessHandle[] {
    return [...(this.#crowd?.handles ?? []), ...(this.#sceneRunner?.handles ?? [])]
  }

  #events(): ProcessEvents {
    const { findings } = this
    return {
      effect: (handle, { parcel, overdueMs }) => {
        if (overdueMs <= OVERDUE_MS_MAX) return
        const late = `${handle.name} handed ${parcel} over ${Math.round(overdueMs)} ms behind its lease`
        findings.broken('held', late)
      },
      wait: (_id, code) => {
        this.#waits.set(code, (this.#waits.get(code) ?? 0) + 1)
      },
      failure: (handle, text) => this.#failures.push(`${handle.name}: ${text}`),
      fact: (handle, fact) => {
        if (fact.what === 'old-picture') {
          findings.broken('held', `${handle.name} took ${fact.sessionId}: ${fact.text}`)
        } else if (fact.what === 'overtaken') {
          findings.broken('paid', `${fact.sessionId}: ${fact.verb} of its holder was refused`)
        }
      },
    }
  }

  async #settle(store: Store, signal: AbortSignal): Promise<readonly string[]> {
    this.#enter('settling')
    const end = performance.now() + SETTLE_MS_MAX
    const names = [...(this.#crowd?.names ?? []), ...Object.keys(CAST)]
    for (;;) {
      const unfinished = await findUnfinished(store, names)
      signal.throwIfAborted()
      if (unfinished.length === 0 || performance.now() > end) return unfinished
      await sleep(100)
    }
  }

  /** Ends the agents in order, then reads everything once more. */
  async #gather(
    { crowd, watcher, store }: GatheredFrom,
    found: Pick<Evidence, 'unsettled' | 'asked' | 'isCutShort'>,
  ): Promise<Evidence> {
    this.#enter('judging')
    const { folder, request } = this.#parts
    await Promise.all(this.#handles.map((handle) => handle.end()))
    await watcher.read()
    return {
      ...found,
      agents: crowd.names,
      letters: crowd.ledger.letters,
      stops: crowd.ledger.stops,
      sessions: await readKept(store, watcher),
      stored: await readStored(store),
      lapsed: new Set(this.#handles.flatMap((handle) => [...handle.lapsed])),
      leases: watcher.leases,
      recoveredTwice: watcher.recoveredTwice,
      wire: crowd.wire,
      windowTokens: request.windowTokens,
      effects: readLines(join(folder, EFFECTS_FILE)),
      sent: readLines(join(folder, SENT_FILE)),
      failures: this.#failures,
      calibrationMsMax: this.#calibration.delayMsMax,
      loops: new Map(this.#handles.map(({ name, loop }) => [name, loop])),
    }
  }

  #enter(phase: Phase): void {
    this.#phase = phase
    this.#draw()
  }

  #draw(): void {
    this.#parts.request.onPicture({
      phase: this.#phase,
      elapsedMs: performance.now() - this.#startedAt,
      agents: this.#crowd?.lines(this.#watcher) ?? [],
    })
  }
}

/** Runs all to the end; if one fails, the others are aborted and awaited. */
async function together(
  signal: AbortSignal,
  works: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const failed = new AbortController()
  const both = AbortSignal.any([signal, failed.signal])
  const ends = await Promise.allSettled(
    works.map(async (work) => {
      try {
        await work(both)
      } catch (error) {
        failed.abort(error)
        throw error
      }
    }),
  )
  const broken = ends.find((end) => end.status === 'rejected')
  if (broken !== undefined) throw broken.reason
}

interface GatheredFrom {
  readonly crowd: Crowd
  readonly watcher: Watcher
  readonly store: Store
}
