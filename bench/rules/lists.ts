import { CHAT_OTHERS } from './chat-others.ts'
import { CHAT_RULES } from './chat-rules.ts'
import {
  FRESH_DISTRACTORS,
  FRESH_RULES,
  HELD_OUT_DISTRACTORS,
  HELD_OUT_RULES,
} from './fresh-sentences.ts'
import { LATER_DISTRACTORS, LATER_RULES } from './later-sentences.ts'
import { PRACTICE_OTHERS } from './practice-others.ts'
import { PRACTICE_RULES } from './practice-rules.ts'
import { DISTRACTORS, RULES } from './sentences.ts'
import {
  SPOKEN_DISTRACTORS,
  SPOKEN_RULES,
  UNSEEN_DISTRACTORS,
  UNSEEN_RULES,
} from './spoken-sentences.ts'
import { LAST_DISTRACTORS, LAST_RULES, TECHNICAL_DISTRACTORS } from './technical-sentences.ts'
import {
  ASIDE_DISTRACTORS,
  ASIDE_RULES,
  VARIED_DISTRACTORS,
  VARIED_RULES,
} from './varied-sentences.ts'
import {
  NEXT_DISTRACTORS,
  NEXT_RULES,
  TERSE_DISTRACTORS,
  TERSE_RULES,
  WIDE_DISTRACTORS,
  WIDE_RULES,
} from './wide-sentences.ts'

export interface SentenceList {
  readonly name: string
  readonly rules: readonly string[]
  readonly others: readonly string[]
}

const everySecond = (texts: readonly string[], rest: number) =>
  texts.filter((_, index) => index % 2 === rest)

const linesOf = (text: string | undefined) =>
  (text ?? '')
    .trim()
    .split('\n')
    .map((line) => line.replaceAll(' ⏎ ', '\n'))

type ByLanguage = Readonly<Record<string, string>>

const byLanguage = (rules: ByLanguage, others: ByLanguage): readonly SentenceList[] =>
  Object.keys(rules).map((name) => ({
    name,
    rules: linesOf(rules[name]),
    others: linesOf(others[name]),
  }))

/** A message of which only the part between the marks is a rule, or all of it without marks. */
export function ruleIn(message: string): { text: string; isRule: (sentence: string) => boolean } {
  const rule = /‹(.*)›/.exec(message)?.[1]
  return {
    text: message.replace(/[‹›]/g, ''),
    isRule: (sentence) => rule === undefined || sentence.includes(rule) || rule.includes(sentence),
  }
}

/** The weights are fitted on these. */
export const FITTED: readonly SentenceList[] = [
  { name: 'first', rules: RULES, others: DISTRACTORS },
  { name: 'later', rules: LATER_RULES, others: LATER_DISTRACTORS },
  { name: 'fresh', rules: FRESH_RULES, others: FRESH_DISTRACTORS },
  { name: 'wide', rules: WIDE_RULES, others: WIDE_DISTRACTORS },
  { name: 'next', rules: NEXT_RULES, others: NEXT_DISTRACTORS },
  { name: 'terse', rules: TERSE_RULES, others: TERSE_DISTRACTORS },
  { name: 'spoken', rules: SPOKEN_RULES, others: SPOKEN_DISTRACTORS },
  { name: 'varied', rules: VARIED_RULES, others: VARIED_DISTRACTORS },
  { name: 'technical', rules: [], others: everySecond(TECHNICAL_DISTRACTORS, 0) },
]

/** Whole messages to choose cues and features by; the weights are not fitted on them yet. */
export const PRACTICE = byLanguage(PRACTICE_RULES, PRACTICE_OTHERS)

/** Neither cues nor weights were chosen for these. */
export const HELD_OUT: readonly SentenceList[] = [
  { name: 'held out', rules: HELD_OUT_RULES, others: HELD_OUT_DISTRACTORS },
  { name: 'unseen', rules: UNSEEN_RULES, others: UNSEEN_DISTRACTORS },
  { name: 'aside', rules: ASIDE_RULES, others: ASIDE_DISTRACTORS },
  { name: 'last', rules: LAST_RULES, others: LAST_DISTRACTORS },
  { name: 'technical', rules: [], others: everySecond(TECHNICAL_DISTRACTORS, 1) },
]

/** Whole messages by language, never read for a cue, a weight or a threshold. */
export const CHAT = byLanguage(CHAT_RULES, CHAT_OTHERS)
