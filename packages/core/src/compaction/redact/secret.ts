/** A stretch of text that must not be passed on. */
export interface Secret {
  readonly kind: string
  readonly from: number
  readonly to: number
}

/** Begins every mark that stands where a secret was. */
export const MARK = '[secret:'
