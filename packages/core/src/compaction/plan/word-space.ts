import { handoffTokensOf } from './budget.ts'
import type { BudgetSettings } from './defaults.ts'
import type { CompactPlan } from './plan.ts'
import { countShortWords, OMITTED_TOKENS, type PreserveRequest } from './preserve.ts'

/** Of a small handoff, the user's short sentences take at most this share before other sections. */
const WORDS_SHARE_MAX = 0.65
/** And this much: more costs a handoff of 5,000 tokens 4 % of its values. */
const WORDS_TOKENS_MAX = 1_770

/** Plans leave this much to the other sections: a model wrote them, and their files are worth more. */
const PLAN_LEAVES = 1_200

/** What gives way keeps this share of the handoff: one without a summary is refused. */
const SHARES_MIN = { summary: 0.15, ledger: 0.1 } as const

/**
 * What a person says in short sentences is in no file and in no result, so in a small digest the
 * sections whose size the caller left open give way to it: the digest first, the ledger last,
 * because the ledger keeps more of what the agent later uses.
 */
export function makeSpaceForWords(
  request: PreserveRequest,
  { userTokens, ledgerTokens, summaryTokens }: BudgetSettings,
): CompactPlan {
  const { allotment } = request.plan
  const all = handoffTokensOf(allotment)
  const most = Math.min(WORDS_TOKENS_MAX, Math.floor(all * WORDS_SHARE_MAX))
  if (userTokens !== undefined || allotment.user >= most) return request.plan
  if (!isLongerThan(request, 2 * all)) return request.plan
  const wanted = Math.min(most, countShortWords(request, most, all - PLAN_LEAVES) + OMITTED_TOKENS)
  const mayGiveWay = {
    summary: summaryTokens === undefined,
    ledger: ledgerTokens === undefined,
  }
  const sections = { ...allotment }
  for (const section of ['summary', 'ledger'] as const) {
    if (!mayGiveWay[section]) continue
    const spare = sections[section] - Math.floor(all * SHARES_MIN[section])
    const taken = Math.max(0, Math.min(wanted - sections.user, spare))
    sections[section] -= taken
    sections.user += taken
  }
  return { ...request.plan, allotment: sections }
}

/** A short head has to shrink first: more of its words would make the handoff as long as they are. */
function isLongerThan({ messages, plan, countMessage }: PreserveRequest, tokens: number): boolean {
  let left = tokens
  for (let at = plan.layout.headFrom; at < plan.cut && left >= 0; at++) {
    const message = messages[at]
    if (message !== undefined) left -= countMessage(message)
  }
  return left < 0
}
