import { DatabaseSync, StatementSync } from 'node:sqlite'
import type { CommitVerb, RequestOf, Store } from '../../../packages/core/src/store/contract.ts'
import { Reader } from '../../../packages/core/src/store/sqlite/worker/reader.ts'
import { Writer } from '../../../packages/core/src/store/sqlite/worker/writer.ts'
import { storeInThread } from './in-thread.ts'

/** What SQLite says of a disk that is full, of a write that failed, of a sync that failed. */
export const FAILURES = { full: 13, write: 778, sync: 1034 } as const
export type Failure = keyof typeof FAILURES

/** Commits of one verb that are tried with failures, of each store. */
const EACH = 2

export interface Faltering {
  readonly store: Store
  /** How many times a statement failed, and the errors that came of it. */
  readonly failures: () => number
  readonly codes: ReadonlySet<string>
}

/**
 * The engine without its threads, over a disk that fails: the first commits of each verb are tried
 * with their first statement failing, then their second, and so on until there is no further one.
 * After every failure another connection must see nothing new.
 */
export function openFaltering(path: string, failure: Failure): Faltering {
  const options = { path, anchorPath: `${path}.anchor`, busyMs: 1_000, anchorMs: 0 }
  let writer = new Writer(options)
  const reader = new Reader(path)
  const somebody = new DatabaseSync(path, { readOnly: true })
  const version = () => somebody.prepare('pragma data_version').get()?.['data_version']
  const codes = new Set<string>()
  const tried = new Map<CommitVerb, number>()
  let failures = 0
  const store = storeInThread({
    reader,
    commit: <Verb extends CommitVerb>(verb: Verb, request: RequestOf<Verb>) => {
      const turn = tried.get(verb) ?? 0
      tried.set(verb, turn + 1)
      for (let nth = turn < EACH ? 1 : Number.MAX_SAFE_INTEGER; ; nth++) {
        const before = version()
        const [result, met] = failing(failure, nth, () => writer.commit([{ verb, request }])[0])
        if (result === undefined) throw new Error('a commit without a result')
        if (met) {
          failures += 1
          if (!('error' in result)) throw new Error(`${verb} acknowledged what was not written`)
          codes.add((result.error as { code?: string }).code ?? String(result.error))
          if (version() !== before) throw new Error(`${verb} left something behind`)
          if (failure !== 'sync') continue
          // What the disk holds is in doubt: nothing more is taken before a restart.
          const [refused] = writer.commit([{ verb, request }])
          if (refused === undefined || !('error' in refused)) throw new Error('taken in doubt')
          writer.close()
          writer = new Writer(options)
          continue
        }
        while (writer.maintain());
        if ('error' in result) throw result.error
        return result.outcome as never
      }
    },
    closeWriter: () => {
      somebody.close()
      writer.close()
    },
  })
  return { store, failures: () => failures, codes }
}

/** Lets the nth writing statement fail, or the commit behind the last one. */
function failing<Value>(failure: Failure, nth: number, work: () => Value): [Value, boolean] {
  const { run } = StatementSync.prototype
  const { exec } = DatabaseSync.prototype
  let count = 0
  let met = false
  const falter = (isWrite: boolean) => {
    if (!isWrite || ++count !== nth) return
    met = true
    throw Object.assign(new Error('the disk failed'), { errcode: FAILURES[failure] })
  }
  StatementSync.prototype.run = function (this: StatementSync, ...values: Parameters<typeof run>) {
    falter(failure !== 'sync')
    return run.apply(this, values)
  } as typeof run
  DatabaseSync.prototype.exec = function (sql) {
    falter(sql === 'commit')
    return exec.call(this, sql)
  }
  try {
    return [work(), met]
  } finally {
    StatementSync.prototype.run = run
    DatabaseSync.prototype.exec = exec
  }
}
