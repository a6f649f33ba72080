import { existsSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'
import type { CommitVerb, Store } from '../../packages/core/src/store/contract.ts'

/**
 * Named places at which a process ends, or stops, or hangs. `FAILPOINT=deliver.inside:2:kill` means:
 * at the second delivery, inside its transaction, by SIGKILL. `before` and `after` wrap the store
 * that a runner is handed; `inside` is planted in the writer's thread (plant.ts); the far ends (a
 * model's step, a tool's effect, a handoff, a send) call `pass` themselves. No source file knows.
 */
export interface Failpoint {
  readonly name: string
  readonly count: number
  readonly act: 'kill' | 'stop' | 'block'
}

/** The commits that a running agent makes. */
const VERBS = [
  'registerRunner',
  'renew',
  'dismissRunner',
  'retireRunner',
  'acquire',
  'release',
  'setWake',
  'admit',
  'settleControl',
  'deliver',
  'commitReply',
  'commitResults',
  'recover',
  'claimCompaction',
  'commitCompaction',
  'failCompaction',
  'claimReply',
  'settleReply',
] as const satisfies readonly CommitVerb[]

const FAR_ENDS = [
  ...['step', 'effect.before', 'effect.after', 'handoff', 'handoff.written'],
  ...['send.before', 'send.after'],
]

export const FAILPOINTS: readonly string[] = [
  ...VERBS.flatMap((verb) => [`${verb}.before`, `${verb}.inside`, `${verb}.after`]),
  ...FAR_ENDS,
]

/** Only a commit that changed something has an interesting "after". */
const DID_NOTHING = ['none', 'held', 'superseded', 'refused', 'lost', 'alive', 'fence-changed']

export function readFailpoint(text: string | undefined): Failpoint | null {
  if (text === undefined || text === '') return null
  const [name = '', count = '1', act = 'kill'] = text.split(':')
  return { name, count: Number(count), act: act as Failpoint['act'] }
}

const present = readFailpoint(process.env['FAILPOINT'])
const cell = new Int32Array(new SharedArrayBuffer(4))
/** A stopped process stays stopped until this file exists, however long the others take. */
const CALL_BACK = process.env['CALL_BACK']
/** In case the process that would continue it was killed. */
const AWAY_MS_MAX = 120_000
let passed = 0

/** Counts a passage through a failpoint; at the configured one, acts on the process. */
export function pass(name: string): void {
  if (present?.name !== name || ++passed !== present.count) return
  switch (present.act) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL')
      // The signal may take a moment; nothing else may run until then.
      Atomics.wait(cell, 0, 0)
      break
    case 'stop':
      stop()
      break
    case 'block':
      writeSync(1, 'blocking\n')
      untilCalledBack(() => {})
      break
    default:
      present.act satisfies never
  }
}

/**
 * A process stopped inside a commit would keep the file's write lock. So it stops between commits:
 * while it holds the lock itself, the store's thread cannot.
 */
function stop(): void {
  const path = process.env['STORE_FILE']
  const file = path === undefined ? null : new DatabaseSync(path, { timeout: 5_000 })
  file?.exec('begin immediate')
  writeSync(1, 'stopping\n')
  file?.exec('rollback')
  // If the store's thread was quicker than the signal, let it continue for a moment.
  untilCalledBack(() => process.kill(process.pid, 'SIGSTOP'))
  file?.close()
}

function untilCalledBack(again: () => void): void {
  const end = performance.now() + AWAY_MS_MAX
  while (!isCalledBack() && performance.now() < end) {
    again()
    Atomics.wait(cell, 0, 0, 20)
  }
  writeSync(1, 'back\n')
}

function isCalledBack(): boolean {
  return CALL_BACK === undefined || existsSync(CALL_BACK)
}

export function withFailpoints(store: Store): Store {
  const verb = present?.name.split('.')[0]
  if (!isMainThread || verb === undefined || !VERBS.some((known) => known === verb)) return store
  const name = verb as CommitVerb
  const call = store[name] as (request: unknown) => Promise<{ readonly kind: string }>
  const wrapped = async (request: unknown) => {
    pass(`${name}.before`)
    const outcome = await call(request)
    if (!DID_NOTHING.includes(outcome.kind)) pass(`${name}.after`)
    return outcome
  }
  return { ...store, [name]: wrapped }
}
