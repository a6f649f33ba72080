import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '#core/base/json'

/** A process that works with a session: it has the log open, or the client lists it as running. */
export function findClientProcess(about: {
  readonly log: string
  readonly session: string
  /** Below the home; null: the client keeps no such list. */
  readonly sessionsFolder: string | null
  readonly home: string
}): number | null {
  const { log, session, sessionsFolder, home } = about
  const listed = sessionsFolder === null ? null : findListed(join(home, sessionsFolder), session)
  return listed ?? findUser(log)
}

/** Claude Code opens its log for each line, but keeps a file for each of its processes. */
function findListed(folder: string, session: string): number | null {
  const files = existsSync(folder) ? readdirSync(folder) : []
  for (const file of files.filter((name) => /^\d+\.json$/.test(name))) {
    const { pid, sessionId, procStart } = readFacts(join(folder, file))
    if (sessionId === session && typeof pid === 'number' && isRunning(pid, procStart)) return pid
  }
  return null
}

function readFacts(path: string): { readonly [name: string]: unknown } {
  try {
    const facts: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(facts) ? facts : {}
  } catch {
    // The process has just ended, or is writing the file.
    return {}
  }
}

/** A killed client leaves its file behind, and its id may belong to another program by now. */
function isRunning(pid: number, startedAt: unknown): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
  const start = startOf(pid)
  return start === null || typeof startedAt !== 'string' || start === startedAt
}

/** In ticks since the system started (Linux). The name before it may contain spaces. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

/** A process that has the file open, if the system can tell (Linux). */
function findUser(path: string): number | null {
  if (!existsSync('/proc/self/fd')) return null
  const { ino, dev } = statSync(path)
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid) continue
    for (const fd of listOpen(pid)) {
      const open = statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false })
      if (open?.ino === ino && open.dev === dev) return pid
    }
  }
  return null
}

function listOpen(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith('.jsonl')
      } catch {
        return false
      }
    })
  } catch {
    // The process ended, or belongs to another user.
    return []
  }
}
