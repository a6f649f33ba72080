import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  dropQuotations,
  endsAsQuestion,
  splitSentences,
} from '../../packages/core/src/compaction/rules/sentences.ts'
import { featuresOf } from '../../packages/core/src/compaction/rules/weigh.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { FITTED, FRAGMENTS, type MessageList, ruleIn } from './lists.ts'
import { writeHashedSets } from './write-hashed-sets.ts'

/**
 * `npm run eval:rules:fit` computes `rules/weights.ts` from the fitted lists by logistic regression:
 * once with all features, then again with the kinds of cues and the words that mattered most.
 */
const ROUNDS = 12
const RATE = 0.2
/** Large weights cost something, so a word that few messages have keeps a small one. */
const COST = 2
const WORDS_KEPT = 1_500
const SENTENCES_WITH_WORD = 4
const SENTENCES_WITH_KIND = 6
/** A tenth that fewer sentences have decides nothing and takes space in every bundle. */
const SENTENCES_WITH_LEAST = 1_000
/** The weights are whole numbers of tenths. */
const SCALE = 10
/**
 * So many tenths against every sentence: 7.4 % of the other messages in the fitted lists are taken for
 * rules, without it 9.0 %.
 */
const AGAINST_ALL = 2

/** One feature in 500 that has no weight is taken for one that has. */
const STRAY_BITS = 9

interface Example {
  readonly features: readonly string[]
  readonly isRule: boolean
}

const plain = FITTED.filter(({ name }) => name.startsWith('sentences')).flatMap(examplesOf)
const others = FITTED.filter(({ name }) => !name.startsWith('sentences')).flatMap(examplesOf)
const once = [...plain, ...others, ...FRAGMENTS.flatMap((line) => sentences(line))]
/** Plain single sentences count more, because most rules are put plainly. */
const examples = [...once, ...plain, ...plain]
const counts = countFeatures(once)
const kept = keep(regress(examples))
const weights = regress(
  examples.map(({ features, isRule }) => ({
    features: features.filter((feature) => kept.has(feature)),
    isRule,
  })),
)
const target = join(import.meta.dirname, '../../packages/core/src/compaction/rules/weights.ts')
writeFileSync(target, fileOf(weights))
console.log(`${examples.length} sentences, ${kept.size} features: ${target}`)

function examplesOf({ rules, others }: MessageList): readonly Example[] {
  return [
    ...rules.flatMap((message) => {
      const { text, isRule } = ruleIn(message)
      return sentences(text, isRule)
    }),
    ...others.flatMap((message) => sentences(message)),
  ]
}

function sentences(text: string, isRule: (sentence: string) => boolean = () => false): Example[] {
  return splitSentences(text).flatMap((sentence) => {
    const bare = dropQuotations(sentence)
    if (endsAsQuestion(bare)) return []
    return [{ features: [...featuresOf(bare)], isRule: isRule(sentence) }]
  })
}

function countFeatures(all: readonly Example[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const { features } of all)
    for (const feature of features) found.set(feature, (found.get(feature) ?? 0) + 1)
  return found
}

function keep(found: ReadonlyMap<string, number>): ReadonlySet<string> {
  const importance = (feature: string) =>
    Math.abs(found.get(feature) ?? 0) * Math.sqrt(counts.get(feature) ?? 0)
  const isKind = (feature: string) => feature.startsWith('@')
  const often = [...counts].flatMap(([feature, count]) =>
    count >= (isKind(feature) ? SENTENCES_WITH_KIND : SENTENCES_WITH_WORD) ? [feature] : [],
  )
  const words = often.filter((feature) => !isKind(feature))
  return new Set([
    ...words.toSorted((a, b) => importance(b) - importance(a)).slice(0, WORDS_KEPT),
    ...often.filter(isKind),
  ])
}

/**
 * Stochastic gradient descent with a step of its own for each feature (AdaGrad). The weights are the mean
 * over the later rounds, because those of one round depend on which examples came last.
 */
function regress(all: readonly Example[]): ReadonlyMap<string, number> {
  const random = seededRandom(1)
  const found = new Map<string, number>()
  const squares = new Map<string, number>()
  const means = new Map<string, number>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const { features, isRule } of shuffled(all, random)) {
      const sum = features.reduce((total, feature) => total + (found.get(feature) ?? 0), 0)
      const error = 1 / (1 + Math.exp(-sum)) - Number(isRule)
      for (const feature of features) {
        const weight = found.get(feature) ?? 0
        const slope = error + (COST * weight) / (counts.get(feature) ?? 1)
        const square = (squares.get(feature) ?? 1e-8) + slope * slope
        squares.set(feature, square)
        found.set(feature, weight - (RATE * slope) / Math.sqrt(square))
      }
    }
    if (round < ROUNDS / 2) continue
    for (const [feature, weight] of found)
      means.set(feature, (means.get(feature) ?? 0) + weight / (ROUNDS / 2))
  }
  return means
}

function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

function fileOf(found: ReadonlyMap<string, number>): string {
  const byWeight = Map.groupBy([...found.keys()].toSorted(), (feature) => {
    const against = feature === '@any' ? AGAINST_ALL : 0
    const weight = Math.round(SCALE * (found.get(feature) ?? 0)) - against
    const isRare = (counts.get(feature) ?? 0) < SENTENCES_WITH_LEAST
    return Math.abs(weight) <= 1 && isRare ? 0 : weight
  })
  byWeight.delete(0)
  const byLabel = new Map([...byWeight].map(([weight, features]) => [`${weight}`, features]))
  return `/** Made by \`npm run eval:rules:fit\`: weights in tenths and the features that have them. */
export const WEIGHTS: string =
  '${writeHashedSets(byLabel, STRAY_BITS)}'
`
}
