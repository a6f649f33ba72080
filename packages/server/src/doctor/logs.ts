import type { AuditLine } from '#core/audit/log/line'
import { readAuditLog } from '#core/audit/log/read-log'
import type { SessionId } from '#core/base/ids'
import type { Reads } from '#core/store/contract'
import { counted } from '../migration/hermes/findings/finding.ts'
import type { OwnFinding } from './finding.ts'

/** How far the audit logs have seen a session. */
interface Furthest {
  entry: number
  mail: number
}

/**
 * Compares the ends of sessions with the audit logs. An old copy of a store that came with its own
 * `.anchor` and `.commits` looks whole; only the logs show what came after it.
 */
export async function judgeLogs(
  reads: Pick<Reads, 'findSession'>,
  logs: readonly string[],
): Promise<readonly OwnFinding[]> {
  const seen = new Map<string, Furthest>()
  for (const path of logs) await readEnds(path, seen)
  const behind: string[] = []
  for (const [id, { entry, mail }] of seen) {
    const session = await reads.findSession(id as SessionId)
    // Logs of several stores can be in one folder.
    if (session?.state !== 'open') continue
    if (entry > session.tail || mail > session.mail) behind.push(id)
  }
  if (behind.length === 0) return []
  return [
    {
      ...{ kind: 'behind-the-logs', severity: 'fault', since: null, sessionIds: behind },
      what: `The audit logs record later messages of ${counted(behind.length, 'session')} than the store holds: an older copy was put in its place.`,
      advice: '`throughline audit` lists them. Restore a newer copy if there is one.',
    },
  ]
}

/** A log that cannot be read is the concern of `audit`. */
async function readEnds(path: string, seen: Map<string, Furthest>): Promise<void> {
  const reader = {
    line: ({ sessionId, entry = 0, mailbox }: AuditLine) => {
      const before = seen.get(sessionId) ?? { entry: 0, mail: 0 }
      seen.set(sessionId, {
        entry: Math.max(before.entry, entry),
        mail: Math.max(before.mail, mailbox?.to ?? 0),
      })
    },
    damage: () => {},
  }
  await readAuditLog(path, reader).catch(() => {})
}
