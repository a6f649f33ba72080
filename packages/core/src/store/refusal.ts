/** Why a control item was turned down; where room was missing, how much. */
export interface Refusal {
  readonly why:
    | 'no-room'
    | 'nothing-to-revert'
    | 'nothing-to-compact'
    | 'tried-too-often'
    | 'out-of-date'
    | 'no-replacement'
    | 'unknown-pin'
    | 'unknown-entry'
    | 'not-understood'
  readonly tokensAfter?: number
  readonly limit?: number
}
