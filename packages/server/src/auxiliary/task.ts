import { DEADLINES, type Deadlines } from '../model/connections/deadlines.ts'

/** The rules for every call of an auxiliary task. */
export interface TaskSettings {
  readonly deadlines: Deadlines
  /** The effect of a person's interrupt: stop the call, or let it finish. */
  readonly onInterrupt: 'stop' | 'defer'
  /** The limit of the answer, unless the request sets a lower one; reasoning counts too. */
  readonly outputTokensMax: number
}

const BRIEF: Deadlines = {
  connectMs: 10_000,
  firstByteMs: 30_000,
  idleMs: 20_000,
  totalMs: 60_000,
}

/** The tasks of this folder. Any other task is treated like `memory`. */
export const TASKS = {
  // This task must not be interrupted: messages are kept meanwhile, and a summary that restarted
  // with every message would never finish.
  compaction: { deadlines: DEADLINES, onInterrupt: 'defer', outputTokensMax: 16_000 },
  title: { deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 1_000 },
  memory: { deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 4_000 },
  vision: { deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 4_000 },
} as const satisfies { readonly [task: string]: TaskSettings }

export type TaskOverrides = { readonly [task: string]: Partial<TaskSettings> | undefined }

export function settingsOf(task: string, overrides: TaskOverrides): TaskSettings {
  const known: { readonly [task: string]: TaskSettings } = TASKS
  const usual = Object.hasOwn(known, task) ? known[task] : undefined
  const own = Object.hasOwn(overrides, task) ? overrides[task] : undefined
  return { ...(usual ?? TASKS.memory), ...own }
}
