/** How much lies in a store beside the sessions that are measured. */
export interface Age {
  readonly sessions: number
  readonly entries: number
  readonly replies: number
  readonly attempts: number
}

export const BATCH = 50_000
export const DAY_MS = 86_400_000
