/** What a repair did to the copy, change by change, and which faults it left as they are. */
export interface RepairReport {
  readonly format: 'throughline-repair-hermes'
  readonly version: 1
  readonly path: string
  readonly to: string
  /** Routes of a version that keeps them in a file of their own, repaired; null: in the store. */
  readonly routingFile: string | null
  readonly changes: readonly Change[]
  readonly left: readonly Left[]
  readonly remarks: readonly string[]
}

export type Change =
  /** A session that rows or other sessions name and that was not there. */
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
  /** It names no parent any more. */
  | {
      readonly kind: 'session-detached'
      readonly sessionId: string
      readonly parentId: string
      readonly why: 'circle' | 'followed'
    }
  /** It ended when the next one began, so that Hermes finds that one. */
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
  /** It named something that is nowhere. */
  | {
      readonly kind: 'reference-cleared'
      readonly table: string
      readonly column: string
      readonly value: string
    }
  | { readonly kind: 'index-rebuilt'; readonly table: string }

export interface Left {
  readonly kind: string
  readonly sessionIds: readonly string[]
  readonly title: string
  readonly advice: string
}
