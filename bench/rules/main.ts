import { findRules } from '../../packages/core/src/compaction/rules/find-rules.ts'
import { user } from '../../test/support/builders.ts'
import { FITTED, FRAGMENTS, HELD_OUT, ruleIn } from './lists.ts'
import { measure, TARGET_TOKENS } from './measure.ts'
import { saidOnce, scenarios } from './scenarios.ts'

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

function isFound(message: string): boolean {
  const { text, isRule } = ruleIn(message)
  return findRules(user(text)).some((found) => isRule(found.text))
}
for (const [title, lists] of [
  ['messages that the weights were fitted on', FITTED],
  ['held out: no cue and no weight was chosen for them', HELD_OUT],
] as const) {
  console.log(`\n${title}: rules found, others taken for one`)
  const all = {
    name: 'all',
    rules: lists.flatMap(({ rules }) => rules),
    others: lists.flatMap(({ others }) => others),
  }
  for (const { name, rules, others } of [...lists, all]) {
    const found = rules.length === 0 ? '' : percent(rules.filter(isFound).length, rules.length)
    const taken = percent(others.filter(isFound).length, others.length)
    console.log(`  ${name.padEnd(24)}${found.padEnd(22)}${taken}`)
  }
}
const lines = findRules(user(FRAGMENTS.join('\n'))).length
console.log(
  `\nlines of plans, logs and programs in one message: ${percent(lines, FRAGMENTS.length)}`,
)

if (process.argv.includes('--verbose')) {
  for (const { scenario, survived: isThere } of outcomes) {
    if (!isThere) console.log(`  lost (${scenario.form}): ${scenario.rule}`)
  }
  for (const text of wrong) console.log(`  wrongly kept: ${text}`)
}
