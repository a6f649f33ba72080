import { z } from 'zod'
import { LiveAudit, type LiveReport } from '#core/audit/log/live-audit'
import type { Clock } from '#core/base/clock'
import { readPlainFile } from '#core/base/files/read'
import { type Facts, trustOf, whyUntrusted } from '#core/base/files/trust'
import { isId, sessionId } from '#core/base/ids'
import type { Runtime } from '../../runtime/runtime.ts'

/**
 * Facts read from disk on request: the size of the store, what the audit logs prove, the state of a
 * rehearsal.
 */
export interface DiagnosticsSources {
  /** The size of the store; null: it is in memory. */
  readonly storeBytes?: () => Promise<number | null>
  readonly auditFolder?: string
  /** The file to which `throughline rehearse` writes its state. */
  readonly rehearsalFile?: string
}

export interface Diagnostics {
  /** Null: the store is in memory. */
  storeBytes(): Promise<number | null>
  /** Null: no audit logs are kept. */
  audit(): Promise<LiveReport | null>
  /** Null: there was no recent rehearsal. */
  rehearsal(): Promise<Rehearsal | null>
}

const REHEARSAL_BYTES_MAX = 256 * 1024
const REHEARSAL_AGE_MS_MAX = 3_600_000
/** The file changes twice a second; after this long without a change the rehearsal has ended. */
const REHEARSAL_SILENT_MS = 10_000

const count = z.number().int().min(0)
/** The file as `throughline rehearse` writes it: replaced by rename, at most twice a second. */
const rehearsalFile = z.object({
  writtenAt: z.number(),
  phase: z.string().max(64),
  elapsedMs: z.number().min(0),
  agents: z
    .array(
      z.object({
        name: z.string().max(128),
        contextTokens: count,
        windowTokens: count,
        state: z.string().max(64),
        isCompacting: z.boolean(),
        compactions: count,
        kills: count,
        acknowledged: count,
        waiting: count,
      }),
    )
    .max(64),
  /** Null while it runs. */
  verdict: z
    .object({ holds: z.boolean(), broken: z.array(z.string().max(500)).max(50) })
    .nullable(),
})
export const rehearsal = rehearsalFile.extend({ isRunning: z.boolean() }).meta({ id: 'Rehearsal' })
export type Rehearsal = z.infer<typeof rehearsal>

const NOTHING = { from: 1, to: 0 } as const

export function openDiagnostics(
  { storeBytes = async () => null, auditFolder, rehearsalFile: file }: DiagnosticsSources,
  runtime: Pick<Runtime, 'session'>,
  clock: Clock,
): Diagnostics {
  const isKnown = async (id: string) =>
    isId(id) && (await runtime.session(sessionId(id)).transcript(NOTHING)) !== undefined
  const audit = auditFolder === undefined ? null : new LiveAudit(auditFolder, isKnown)
  return {
    storeBytes,
    audit: async () => (audit === null ? null : await audit.look()),
    rehearsal: async () => (file === undefined ? null : await readRehearsal(file, clock.now())),
  }
}

async function readRehearsal(path: string, now: number): Promise<Rehearsal | null> {
  try {
    // In a folder like /tmp another user can put a pipe or a file in its place.
    const text = await readPlainFile(path, REHEARSAL_BYTES_MAX, isOwn)
    if (text === null) return null
    const read = rehearsalFile.safeParse(JSON.parse(text))
    if (!read.success || now - read.data.writtenAt > REHEARSAL_AGE_MS_MAX) return null
    const { verdict, writtenAt } = read.data
    const isRunning = verdict === null && now - writtenAt < REHEARSAL_SILENT_MS
    return { ...read.data, isRunning }
  } catch {
    // There was no rehearsal, or the file is malformed.
    return null
  }
}

function isOwn(facts: Facts): boolean {
  return whyUntrusted(facts, trustOf()) === null
}
