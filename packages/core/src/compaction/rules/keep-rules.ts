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

/**
 * No budget has room for so many. They are dropped while rules are added, so that a conversation of
 * rules takes time in proportion to its length.
 */
const RULES_MAX = 1_000

export function keepRules(request: KeepRulesRequest): readonly UserRule[] {
  const { said, earlier, tokensMax, countTokens } = request
  let rules: readonly ReadRule[] = (earlier?.rules ?? []).map(readRule)
  for (const { message, number, found } of said) {
    const place = { number, ...(message.at !== undefined && { at: message.at }) }
    for (const { text, lifts } of found) {
      rules = add(rules, readRule({ text, ...place }), lifts)
      if (rules.length > RULES_MAX) rules = rules.toSpliced(leastOf(rules), 1)
    }
  }
  return fit(
    rules.map(({ rule }) => rule),
    tokensMax,
    countTokens,
  )
}

/** A rule with what comparisons need of it, read once. */
interface ReadRule {
  readonly rule: UserRule
  /** All its words, in order. */
  readonly words: string
  /** Without filler words. */
  readonly content: ReadonlySet<string>
  /** Words with digits. */
  readonly names: readonly string[]
  readonly subject: string
  readonly values: string
  readonly isAddress: boolean
  readonly isNegative: boolean
  readonly isAmount: boolean
}

function readRule(rule: UserRule): ReadRule {
  const { text } = rule
  const words = wordsOf(text)
  const content = words.filter((word) => !FILLER.has(word))
  return {
    rule,
    words: words.join(' '),
    content: new Set(content),
    names: [...new Set(content)].filter((word) => /\d/.test(word)),
    subject: subjectOf(content),
    values: words.filter(isValue).join(' '),
    isAddress: FORM_OF_ADDRESS.test(text),
    isNegative: NEGATIVE.test(text),
    isAmount: AMOUNT.test(text),
  }
}

function add(rules: readonly ReadRule[], later: ReadRule, lifts: boolean): readonly ReadRule[] {
  const { number } = later.rule
  const others = rules.filter(({ words }) => words !== later.words)
  const isReplaced = (each: ReadRule) =>
    each.rule.supersededBy === undefined &&
    each.rule.number <= number &&
    (lifts ? isAbout(each, later) : supersedes(later, each))
  // A revocation of an unknown rule has no effect.
  if (lifts && !others.some(isReplaced)) return rules
  const marked = others.map((each) =>
    isReplaced(each) ? { ...each, rule: { ...each.rule, supersededBy: number } } : each,
  )
  return [...marked, later]
}

const OVERLAP_MIN = 0.6

/**
 * Whether the later one takes the place of the earlier one. If in doubt it does not: two rules that
 * both stand are read in order, but one that is called superseded is no longer followed.
 */
function supersedes(later: ReadRule, earlier: ReadRule): boolean {
  if (later.isAddress && earlier.isAddress) return true
  if (later.subject !== earlier.subject) return false
  if (later.isNegative !== earlier.isNegative) return true
  return later.isAmount && earlier.isAmount && later.values !== earlier.values
}

/** A revocation rarely repeats the whole rule, but it names the same things. */
function isAbout(rule: ReadRule, revocation: ReadRule): boolean {
  const { content, names } = revocation
  const namesOther = names.length > 0 && rule.names.length > 0
  if (namesOther && !names.some((name) => rule.content.has(name))) return false
  const shared = [...content].filter((word) => rule.content.has(word)).length
  return shared > 0 && shared >= Math.min(content.size, rule.content.size) * OVERLAP_MIN
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

/** Everything but filler words, in any order, with a mark for each value. */
function subjectOf(content: readonly string[]): string {
  const words = content.map((word) => (isValue(word) ? '#' : word))
  return words.toSorted().join(' ')
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

/** Drops no more than needed, and writes the rules a few times only, however many there are. */
function fit(
  rules: readonly UserRule[],
  tokensMax: number,
  countTokens: CountTokens,
): readonly UserRule[] {
  const order = [
    ...rules.filter(({ supersededBy }) => supersededBy !== undefined),
    ...rules.filter(({ supersededBy }) => supersededBy === undefined),
  ]
  const without = (count: number): readonly UserRule[] => {
    const dropped = new Set(order.slice(0, count))
    return rules.filter((rule) => !dropped.has(rule))
  }
  let [least, most] = [0, rules.length]
  while (least < most) {
    const middle = Math.floor((least + most) / 2)
    if (countTokens(writeRules(without(middle))) <= tokensMax) most = middle
    else least = middle + 1
  }
  return without(least)
}

/** The one that is dropped first. */
function leastOf(rules: readonly ReadRule[]): number {
  return Math.max(
    0,
    rules.findIndex(({ rule }) => rule.supersededBy !== undefined),
  )
}
