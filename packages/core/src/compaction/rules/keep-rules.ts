import type { Handoff, UserRule } from '../../message/handoff/handoff.ts'
import { writeRules } from '../../message/handoff/rules-text.ts'
import type { Message } from '../../message/message.ts'
import type { CountTokens } from '../counters.ts'
import type { FoundRule } from './find-rules.ts'

/**
 * The rules in force after this compaction: those of the earlier handoff and those stated since. A
 * later one supersedes an earlier one on the same subject; both are shown, so that the change is
 * visible. If they do not fit, superseded ones are dropped first, then the oldest.
 */
export interface KeepRulesRequest {
  /** The messages in which rules were found, oldest first. */
  readonly said: readonly SaidRules[]
  readonly earlier?: Handoff
  readonly tokensMax: number
  readonly countTokens: CountTokens
}

export interface SaidRules {
  readonly message: Message
  readonly number: number
  readonly found: readonly FoundRule[]
}

export function keepRules(request: KeepRulesRequest): readonly UserRule[] {
  const { said, earlier, tokensMax, countTokens } = request
  let rules: readonly UserRule[] = earlier?.rules ?? []
  for (const { message, number, found } of said) {
    for (const each of found)
      rules = add(rules, each, { number, ...(message.at !== undefined && { at: message.at }) })
  }
  return fit(rules, tokensMax, countTokens)
}

function add(
  rules: readonly UserRule[],
  { text, lifts }: FoundRule,
  place: Pick<UserRule, 'number' | 'at'>,
): readonly UserRule[] {
  const isSame = (rule: UserRule) => wordsOf(rule.text).join(' ') === wordsOf(text).join(' ')
  const others = rules.filter((rule) => !isSame(rule))
  const isReplaced = (rule: UserRule) =>
    rule.supersededBy === undefined &&
    rule.number <= place.number &&
    supersedes(text, rule.text, lifts)
  // A revocation of an unknown rule has no effect.
  if (lifts && !others.some(isReplaced)) return rules
  const marked = others.map((rule) =>
    isReplaced(rule) ? { ...rule, supersededBy: place.number } : rule,
  )
  return [...marked, { text, ...place }]
}

const OVERLAP_MIN = 0.6

/** Whether both are about the same subject and differ. */
function supersedes(later: string, earlier: string, lifts: boolean): boolean {
  if (TOPICS.some((topic) => topic.test(later) && topic.test(earlier))) return true
  const [a, b] = [new Set(topicOf(later)), new Set(topicOf(earlier))]
  const shared = [...a].filter((word) => b.has(word)).length
  if (shared === 0 || shared < Math.min(a.size, b.size) * OVERLAP_MIN) return false
  return lifts || NEGATIVE.test(later) !== NEGATIVE.test(earlier) || differInValue(later, earlier)
}

/** Topics with only one rule in force at a time. */
const TOPICS = [
  /\b(?:answer|reply|respond|write|speak|talk|antworte|schreib|réponds|responde|responda|rispondi)\b.*\b(?:english|german|french|spanish|italian|portuguese|dutch|russian|polish|japanese|chinese|deutsch|englisch|französisch|français|anglais|español|inglés|português|inglês|italiano|inglese)\b/i,
  /\b(?:call|address) me\b/i,
  /\bbudget\b.*\d/i,
  /\bdeadline\b/i,
]

const NEGATIVE =
  /\b(?:never|not|no|don['’]?t|mustn['’]t|avoid|without|forbidden|off[- ]limits|nicht|nie|niemals|keine?[nr]?|jamais|pas|nunca|no|não|non|mai|niet|nooit|geen)\b|не |нельзя|不|ない|마/iu

function differInValue(later: string, earlier: string): boolean {
  const values = (text: string) => (text.match(/\d[\d.,:]*/g) ?? []).join(' ')
  return values(later) !== '' && values(earlier) !== '' && values(later) !== values(earlier)
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** The subject: its words without rule words and numbers. */
function topicOf(text: string): readonly string[] {
  return wordsOf(text)
    .filter((word) => !/^\d/.test(word) && !RULING.has(word))
    .map((word) => word.slice(0, STEM_CHARACTERS))
}

const STEM_CHARACTERS = 6
const RULING = new Set(
  'a an the to of in on at by for with and or but is are be it this that these those i me my we us our you your please never always not no do don t dont may must should shall can could will now again any all every each only from until before after without from ok okay allowed again rule longer anymore use bitte nicht nie immer der die das den dem ein eine und du ich kein keine jetzt wieder le la les un une de des ne pas jamais et el los las nunca no y o os as não e il lo gli non mai het een niet nooit'.split(
    ' ',
  ),
)

function fit(
  rules: readonly UserRule[],
  tokensMax: number,
  countTokens: CountTokens,
): readonly UserRule[] {
  let kept = rules
  while (kept.length > 0 && countTokens(writeRules(kept)) > tokensMax) {
    const at = Math.max(
      0,
      kept.findIndex((rule) => rule.supersededBy !== undefined),
    )
    kept = kept.toSpliced(at, 1)
  }
  return kept
}
