import { DEADLINES, type Deadlines } from '../model/connections/deadlines.ts'

/** What holds for every call of an auxiliary task, whoever asks for it. */
export interface TaskSettings {
  readonly deadlines: Deadlines
  /** What a person's interrupt does: stop the call, or wait for what it is about. */
  readonly onInterrupt: 'stop' | 'defer'
  /** What the answer may take, unless the request says less; thoughts count, too. */
  readonly outputTokensMax: number
}

const BRIEF: Deadlines = {
  connectMs: 10_000,
  firstByteMs: 30_000,
  idleMs: 20_000,
  totalMs: 60_000,
}

/** The tasks of this folder. A task that is not named here is treated as `memory` is. */
export const TASKS = {
  // The one that must not be torn: everything said meanwhile is kept, and a summary that was begun
  // again with every message would never be finished.
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
