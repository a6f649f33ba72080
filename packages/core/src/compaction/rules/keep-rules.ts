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

/**
 * Whether the later one takes the place of the earlier one. If in doubt it does not: two rules that
 * both stand are read in order, but one that is called superseded is no longer followed.
 */
function supersedes(later: string, earlier: string, lifts: boolean): boolean {
  if (lifts) return isAbout(earlier, later)
  if (FORM_OF_ADDRESS.test(later) && FORM_OF_ADDRESS.test(earlier)) return true
  if (subjectOf(later) !== subjectOf(earlier)) return false
  if (NEGATIVE.test(later) !== NEGATIVE.test(earlier)) return true
  return AMOUNT.test(later) && AMOUNT.test(earlier) && valuesOf(later) !== valuesOf(earlier)
}

/** A revocation rarely repeats the whole rule, but it names the same things. */
function isAbout(rule: string, revocation: string): boolean {
  const [a, b] = [new Set(contentOf(revocation)), new Set(contentOf(rule))]
  const names = (words: ReadonlySet<string>) => [...words].filter((word) => /\d/.test(word))
  if (names(a).length > 0 && names(b).length > 0 && !names(a).some((name) => b.has(name)))
    return false
  const shared = [...a].filter((word) => b.has(word)).length
  return shared > 0 && shared >= Math.min(a.size, b.size) * OVERLAP_MIN
}

const FORM_OF_ADDRESS =
  /\b(?:call|address) me (?!before|after|when|if|once|at|on|only|first|as soon)\p{L}+(?: \p{L}+)?(?: from now on)?[.!]?$/iu

const NEGATIVE =
  /\b(?:never|not|no|don['’]?t|mustn['’]t|avoid|without|forbidden|off[- ]limits|nicht|nie|niemals|keine?[nr]?|jamais|pas|nunca|no|não|non|mai|niet|nooit|geen)\b|не |нельзя|不|ない|마/iu

const LANGUAGE =
  /^(?:english|german|french|spanish|italian|portuguese|dutch|russian|polish|japanese|chinese|deutsch|englisch|französisch|français|anglais|español|inglés|português|inglês|italiano|inglese)$/
/** A number is the value of an amount, or else the name of something, as in "port 8080". */
const AMOUNT =
  /[€$£¥%]|\b(?:budget|limit|deadline|max\w*|min\w*|at most|at least|under|over|(?:more|less|fewer) than|up to|euros?|dollars?|tokens?|words?|characters?|lines?|sentences?|minutes?|hours?|days?|weeks?|answer|reply|respond|write|speak|talk|antworte|schreib|réponds|responde|responda|rispondi)\b/i

const isValue = (word: string) => /^\d[\d.,:]*$/.test(word) || LANGUAGE.test(word)

function valuesOf(text: string): string {
  return wordsOf(text).filter(isValue).join(' ')
}

/** Everything but filler words, in any order, with a mark for each value. */
function subjectOf(text: string): string {
  const words = contentOf(text).map((word) => (isValue(word) ? '#' : word))
  return words.toSorted().join(' ')
}

function contentOf(text: string): readonly string[] {
  return wordsOf(text).filter((word) => !FILLER.has(word))
}

/** `web-1` and `9:00` are one word each. */
function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:[-_.:/][\p{L}\p{N}]+)*/gu) ?? []
}

const FILLER = new Set(
  'a an the to of in on at by for with and or but is are be it this that these those i me my we us our you your please never always not no do don t dont may must should shall can could will now again from ok okay allowed rule longer anymore bitte nicht nie immer der die das den dem ein eine und du ich kein keine jetzt wieder le la les un une de des ne pas jamais et el los las nunca y o os as não e il lo gli non mai het een niet nooit'.split(
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
