import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../../base/errors.ts'
import { AUDIT_LAWS, AuditFindings, type AuditLawName, LOG_LAWS } from '../laws/laws.ts'
import { type Figures, Prover } from '../laws/prover.ts'
import { LineChain } from './read-log.ts'

/**
 * The laws of `throughline audit`, proven while the processes run. Each look reads the lines since
 * the last one, a bounded amount at a time; between looks nothing is read.
 *
 * Logs of several processes are read one after another, so one may mention events that another has
 * not yet logged. Findings within one log count at once; findings across logs only if two looks in
 * a row agree.
 */
export interface LiveVerdict {
  readonly law: AuditLawName
  readonly title: string
  readonly contract: readonly string[]
  readonly holds: boolean
  readonly offences: readonly { readonly sessionId: string | null; readonly problem: string }[]
  readonly offencesCount: number
  readonly advice: string | null
}

export interface LiveReport {
  readonly holds: boolean
  readonly laws: readonly LiveVerdict[]
  readonly figures: Readonly<Figures>
  readonly logs: number
  /** One look reads a bounded amount; the next one continues. */
  readonly isBehind: boolean
}

const BYTES_PER_LOOK_MAX = 8 * 1024 * 1024
const PIECE_BYTES = 256 * 1024
const LOGS_MAX = 1_000
/** Looks within this time share one result. */
const FRESH_MS = 2_000
const ASKED_MAX = 1_000

interface Followed {
  readonly chain: LineChain
  offset: number
  isRefused: boolean
}

export class LiveAudit {
  readonly #folder: string
  readonly #isKnown: (sessionId: string) => Promise<boolean>
  readonly #prover = new Prover()
  readonly #logs = new Map<string, Followed>()
  readonly #born = new Set<string>()
  #suspected: ReadonlySet<string> = new Set()
  #looking: Promise<LiveReport> | null = null
  #last: { readonly report: LiveReport; readonly at: number } | null = null

  /** `isKnown`: whether the store has that session, for sessions older than the oldest log. */
  constructor(folder: string, isKnown: (sessionId: string) => Promise<boolean>) {
    this.#folder = folder
    this.#isKnown = isKnown
  }

  async look(): Promise<LiveReport> {
    const now = performance.now()
    if (this.#last !== null && now - this.#last.at < FRESH_MS) return this.#last.report
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = null
    })
    return await this.#looking
  }

  async #lookNow(): Promise<LiveReport> {
    const isBehind = await this.#readOn()
    await this.#askForBirths()
    const late = new AuditFindings()
    const store = { isBorn: (id: string) => this.#born.has(id), withdrawnFrom: () => [] }
    this.#prover.judge(store, late)
    const { findings } = this.#prover
    const suspected = new Set<string>()
    const laws = LOG_LAWS.map((law): LiveVerdict => {
      const agreed = late.kept(law).filter(({ sessionId, problem }) => {
        const name = JSON.stringify([law, sessionId, problem])
        suspected.add(name)
        return !isBehind && this.#suspected.has(name)
      })
      const offences = [...findings.kept(law), ...agreed]
      const { title, contract, advice } = AUDIT_LAWS[law]
      const holds = offences.length === 0
      return {
        ...{ law, title, contract, holds, advice: holds ? null : advice },
        offences: offences.map(({ sessionId, problem }) => ({ sessionId, problem })),
        offencesCount: findings.count(law) + agreed.length,
      }
    })
    this.#suspected = suspected
    const report: LiveReport = {
      holds: laws.every(({ holds }) => holds),
      laws,
      figures: { ...this.#prover.figures },
      logs: this.#logs.size,
      isBehind,
    }
    this.#last = { report, at: performance.now() }
    return report
  }

  async #readOn(): Promise<boolean> {
    const names = (await readdir(this.#folder).catch(() => [])).filter((name) =>
      /^audit-[0-9a-f]+\.jsonl$/.test(name),
    )
    let left = BYTES_PER_LOOK_MAX
    for (const [file, name] of names.sort().slice(0, LOGS_MAX).entries()) {
      left -= await this.#readLog(join(this.#folder, name), file, left)
      if (left <= 0) return true
    }
    return false
  }

  async #readLog(path: string, file: number, bytesMax: number): Promise<number> {
    const log = this.#logs.get(path) ?? this.#follow(path, file)
    if (log.isRefused) return 0
    let done = 0
    try {
      await using handle = await open(path)
      const piece = Buffer.alloc(PIECE_BYTES)
      while (done < bytesMax) {
        const { bytesRead } = await handle.read(piece, 0, PIECE_BYTES, log.offset)
        if (bytesRead === 0) break
        log.chain.take(piece.subarray(0, bytesRead))
        log.offset += bytesRead
        done += bytesRead
      }
    } catch (error) {
      // An unreadable log is reported; one that has disappeared is not.
      if (error instanceof KnownError) {
        log.isRefused = true
        this.#damaged(error.message, file, 0)
      }
    }
    return done
  }

  #follow(path: string, file: number): Followed {
    const chain = new LineChain(path, {
      line: (line, number) => this.#prover.read({ line, mark: { file, line: number } }),
      damage: (problem, number) => this.#damaged(problem, file, number),
    })
    const log = { chain, offset: 0, isRefused: false }
    this.#logs.set(path, log)
    return log
  }

  #damaged(problem: string, file: number, line: number): void {
    const marks = [{ file, line }]
    this.#prover.findings.broken({ law: 'whole', problem, sessionId: null, marks })
  }

  async #askForBirths(): Promise<void> {
    const unborn = this.#prover.sessions
      .entries()
      .filter(([id, { births }]) => births.length === 0 && !this.#born.has(id))
      .take(ASKED_MAX)
    for (const [id] of unborn.toArray()) if (await this.#isKnown(id)) this.#born.add(id)
  }
}
