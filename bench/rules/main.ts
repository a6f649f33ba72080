import { measure, TARGET_TOKENS } from './measure.ts'
import { scenarios } from './scenarios.ts'

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
if (process.argv.includes('--verbose')) {
  for (const { scenario, survived: isThere } of outcomes) {
    if (!isThere) console.log(`  lost (${scenario.form}): ${scenario.rule}`)
  }
  for (const text of wrong) console.log(`  wrongly kept: ${text}`)
}
