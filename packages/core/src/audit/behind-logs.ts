import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { KnownError } from '../base/errors.ts'
import type { SessionId } from '../base/ids.ts'
import type { Reads } from '../store/contract.ts'
import { parseLine } from './log/line.ts'

/** So that the start of a process takes no longer in an old store: `doctor` reads all of every log. */
const LOGS_MAX = 8
const END_BYTES = 128 * 1024

/**
 * Sessions of which the ends of the newest logs record more than the store holds. An old copy of a
 * store that comes with its own `.anchor` and `.commits` looks whole.
 */
export async function findBehindLogs(
  reads: Pick<Reads, 'findSession'>,
  logs: readonly string[],
): Promise<readonly SessionId[]> {
  // The logs first: the store only grows.
  const told = new Map<SessionId, { entry: number; mail: number }>()
  for (const line of newest(logs).flatMap(endOf)) {
    const parsed = parseLine(line)
    if (parsed.kind !== 'line') continue
    const { sessionId, entry = 0, mailbox } = parsed.line
    const known = told.get(sessionId as SessionId) ?? { entry: 0, mail: 0 }
    told.set(sessionId as SessionId, {
      entry: Math.max(known.entry, entry),
      mail: Math.max(known.mail, mailbox?.to ?? 0),
    })
  }
  const behind: SessionId[] = []
  for (const [id, { entry, mail }] of told) {
    const session = await orDamaged(() => reads.findSession(id))
    // Logs of several stores can be in one folder.
    if (session?.state !== 'open') continue
    if (entry > session.tail || mail > session.mail) behind.push(id)
  }
  return behind
}

function newest(logs: readonly string[]): readonly string[] {
  const dated = logs
    .filter((path) => path.endsWith('.jsonl'))
    .flatMap((path) => {
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat?.isFile() === true ? [{ path, at: stat.mtimeMs }] : []
    })
  return dated
    .sort((one, other) => other.at - one.at)
    .slice(0, LOGS_MAX)
    .map(({ path }) => path)
}

/** The last lines; the first of them may be cut. A log that cannot be read is the concern of `audit`. */
function endOf(path: string): readonly string[] {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const bytes = Buffer.alloc(END_BYTES)
    const from = Math.max(0, fstatSync(file).size - END_BYTES)
    const length = readSync(file, bytes, 0, END_BYTES, from)
    return bytes.toString('latin1', 0, length).split('\n')
  } catch {
    return []
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Reported by the check of the store. */
async function orDamaged<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof KnownError && error.code === 'damaged-row') return undefined
    throw error
  }
}
