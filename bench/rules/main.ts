import { findRules } from '../../packages/core/src/compaction/rules/find-rules.ts'
import { user } from '../../test/support/builders.ts'
import {
  FRESH_DISTRACTORS,
  FRESH_RULES,
  HELD_OUT_DISTRACTORS,
  HELD_OUT_RULES,
} from './fresh-sentences.ts'
import { LATER_DISTRACTORS, LATER_RULES } from './later-sentences.ts'
import { measure, TARGET_TOKENS } from './measure.ts'
import { saidOnce, scenarios } from './scenarios.ts'
import { DISTRACTORS, RULES } from './sentences.ts'
import {
  SPOKEN_DISTRACTORS,
  SPOKEN_RULES,
  UNSEEN_DISTRACTORS,
  UNSEEN_RULES,
} from './spoken-sentences.ts'
import {
  NEXT_DISTRACTORS,
  NEXT_RULES,
  TERSE_DISTRACTORS,
  TERSE_RULES,
  WIDE_DISTRACTORS,
  WIDE_RULES,
} from './wide-sentences.ts'

/**
 * Whether what a person ruled once survives ten compactions in a row, and whether what only sounds
 * like a rule is kept as one. The sentences are our own; `--verbose` names each that went wrong.
 */
const outcomes = []
for (const scenario of scenarios()) outcomes.push(await measure(scenario))
const others = outcomes.reduce((sum, { scenario }) => sum + scenario.others.length, 0)
const wrong = outcomes.flatMap((outcome) => outcome.wrong)
const percent = (count: number, of: number) =>
  `${count} of ${of} (${((100 * count) / of).toFixed(1)} %)`
const survived = outcomes.filter((outcome) => outcome.survived)
const inSection = outcomes.filter((outcome) => outcome.isInSection)

console.log(`ten compactions each, target ${TARGET_TOKENS} tokens`)
console.log(`rules that survived word for word   ${percent(survived.length, outcomes.length)}`)
console.log(`  of them in the section of rules   ${percent(inSection.length, outcomes.length)}`)
console.log(`kept as a rule and none             ${percent(wrong.length, others)}`)

const once = []
for (const scenario of saidOnce()) once.push(await measure(scenario))
const remembered = once.filter((outcome) => outcome.survived).length
console.log(`said once, in no form of a rule      ${percent(remembered, once.length)} survived`)

const LISTS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['first', RULES, DISTRACTORS],
  ['later', LATER_RULES, LATER_DISTRACTORS],
  ['fresh', FRESH_RULES, FRESH_DISTRACTORS],
  ['held out', HELD_OUT_RULES, HELD_OUT_DISTRACTORS],
  ['wide', WIDE_RULES, WIDE_DISTRACTORS],
  ['next', NEXT_RULES, NEXT_DISTRACTORS],
  ['terse', TERSE_RULES, TERSE_DISTRACTORS],
  ['spoken', SPOKEN_RULES, SPOKEN_DISTRACTORS],
  ['unseen', UNSEEN_RULES, UNSEEN_DISTRACTORS],
]
const count = (texts: readonly string[]) =>
  texts.filter((text) => findRules(user(text)).length > 0).length
console.log(
  '\nsentences alone: rules found, others taken for one ("held out" and "unseen" were never tuned on)',
)
for (const [name, rules, others] of LISTS) {
  const found = percent(count(rules), rules.length).padEnd(24)
  console.log(`  ${name.padEnd(10)}${found}${percent(count(others), others.length)}`)
}
if (process.argv.includes('--verbose')) {
  for (const { scenario, survived: isThere } of outcomes) {
    if (!isThere) console.log(`  lost (${scenario.form}): ${scenario.rule}`)
  }
  for (const text of wrong) console.log(`  wrongly kept: ${text}`)
}
