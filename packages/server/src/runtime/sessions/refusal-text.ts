import type { ControlEnd } from '#core/session/view/control-outcome'

/** Why a control item was refused, for people: the end of a sentence, without its full stop. */
export function refusalReason(end: Extract<ControlEnd, { kind: 'turned-down' }>): string {
  switch (end.why) {
    case 'no-room': {
      const { tokensAfter, limit } = end
      const figures =
        limit === undefined
          ? ''
          : `: ${tokensAfter?.toLocaleString('en')} tokens where ${limit.toLocaleString('en')} fit`
      return `there is no room for it${figures}`
    }
    case 'nothing-to-revert':
      return 'no compaction is in effect'
    case 'nothing-to-compact':
      return 'there is nothing worth compacting yet'
    case 'tried-too-often':
      return 'it was tried too often just now; ask again in some minutes'
    case 'out-of-date':
      return 'the session has changed since it was shown'
    case 'no-replacement':
      return 'the summary in effect could not be rewritten without it'
    case 'unknown-pin':
      return 'there is no such pin'
    case 'unknown-entry':
      return 'there is no such entry'
    case 'elsewhere':
      return 'the entry belongs to the session that this one was forked from; erase it there'
    case 'compaction-failed':
      return 'the compaction failed; the session is as it was'
    case 'not-understood':
      return 'it was not understood'
    default:
      return end.why satisfies never
  }
}
