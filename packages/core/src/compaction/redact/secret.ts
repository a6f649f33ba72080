/** A stretch of text that must not be passed on. */
export interface Secret {
  readonly kind: string
  readonly from: number
  readonly to: number
}

/** The start of every mark that replaces a secret. */
export const MARK = '[secret:'
