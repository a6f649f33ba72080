/** What a repair changed in the copy, and which faults it left. */
export interface RepairReport {
  readonly format: 'throughline-repair-hermes'
  readonly version: 1
  readonly path: string
  readonly to: string
  /** The repaired routes of a version that keeps them in a separate file; null: in the store. */
  readonly routingFile: string | null
  readonly changes: readonly Change[]
  readonly left: readonly UnrepairedFinding[]
  readonly remarks: readonly string[]
}

export type Change =
  /** A session that was missing although rows or other sessions name it. */
  | { readonly kind: 'session-added'; readonly sessionId: string }
  | {
      readonly kind: 'session-reopened'
      readonly sessionId: string
      readonly endedAt: number | null
      readonly endReason: string
    }
  | { readonly kind: 'shell-closed'; readonly sessionId: string; readonly parentId: string }
  | {
      readonly kind: 'branch-closed'
      readonly sessionId: string
      readonly parentId: string
      readonly tip: string
    }
  /** It no longer names a parent. */
  | {
      readonly kind: 'session-detached'
      readonly sessionId: string
      readonly parentId: string
      readonly why: 'circle' | 'followed'
    }
  /** Its end is now the start of the next session, so that Hermes finds that one. */
  | { readonly kind: 'closing-moved'; readonly sessionId: string; readonly next: string }
  | {
      readonly kind: 'row-appended'
      readonly sessionId: string
      readonly rowId: number
      readonly ofRowId: number
      readonly ofSessionId: string
    }
  | {
      readonly kind: 'route-moved'
      readonly key: string
      readonly from: string
      readonly to: string
    }
  /** It named something that does not exist. */
  | {
      readonly kind: 'reference-cleared'
      readonly table: string
      readonly column: string
      readonly value: string
    }
  | { readonly kind: 'index-rebuilt'; readonly table: string }

export interface UnrepairedFinding {
  readonly kind: string
  readonly sessionIds: readonly string[]
  readonly title: string
  readonly advice: string
}
