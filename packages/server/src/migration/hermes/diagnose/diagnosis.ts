import type { Finding } from '../findings/finding.ts'
import type { StoreVerdict } from '../read/errors.ts'

/** Everything the doctor found. Renderers turn it into text, Markdown, JSON or HTML. */
export interface Diagnosis {
  readonly format: 'throughline-doctor-hermes'
  readonly version: 1
  readonly path: string | null
  readonly examinedAt: string
  readonly profiles: readonly ProfileDiagnosis[]
}

export interface ProfileDiagnosis {
  readonly name: string
  readonly store: StoreFacts
  readonly logs: { readonly paths: readonly string[]; readonly lines: number }
  /** Seconds that the log's clock is ahead of UTC, if the store's ids and times agree on it. */
  readonly zoneSeconds: number | null
  readonly remarks: readonly string[]
  readonly findings: readonly Finding[]
  /** The conversations that findings refer to. */
  readonly conversations: readonly HermesConversation[]
  readonly conversationsHealthy: number
}

export type StoreFacts =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'read'
      readonly path: string
      readonly schemaVersion: number | null
      readonly sessions: number
      readonly rows: number
      readonly liveRows: number
    }
  | {
      readonly kind: 'unreadable'
      readonly path: string
      readonly verdict: StoreVerdict
      readonly problem: string
    }

export interface HermesConversation {
  readonly rootId: string
  readonly title: string | null
  readonly source: string | null
  readonly sessions: readonly ConversationSession[]
  readonly timeline: readonly TimelineEntry[]
}

export interface ConversationSession {
  readonly id: string
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly endReason: string | null
  readonly rows: number
}

export interface TimelineEntry {
  /** Epoch seconds; null sorts last. */
  readonly at: number | null
  readonly sessionId: string
  readonly text: string
  /** Index into the profile's findings; null if the event is not a finding. */
  readonly finding: number | null
}

export type HermesHealth = 'healthy' | 'faults' | 'unreadable'

/** Notes are not faults. A store that cannot be read is worse than one with faults. */
export function healthOf({ profiles }: Diagnosis): HermesHealth {
  if (profiles.some(({ store }) => store.kind === 'unreadable')) return 'unreadable'
  const hasFault = profiles.some(({ findings }) => findings.some(isFault))
  return hasFault ? 'faults' : 'healthy'
}

export function isFault({ severity }: Finding): boolean {
  return severity !== 'note'
}
