import { findCues } from '../../packages/core/src/compaction/rules/cues/find-cues.ts'
import { featuresOf, sumOf, type Weights } from '../../packages/core/src/compaction/rules/weigh.ts'
import { FITTED } from './lists.ts'

/**
 * Computes the weights of `rules/weigh.ts` from the fitted lists by logistic regression and prints
 * them. Large weights cost something, so a cue that a few sentences have keeps a small one.
 */
const COST = 0.5
const ROUNDS = 4
const STEPS = 12
/** The weights are whole numbers of tenths. */
const SCALE = 10

interface Example {
  readonly sentence: string
  readonly isRule: boolean
}

const examples: readonly Example[] = FITTED.flatMap(({ rules, others }) => [
  ...rules.map((sentence) => ({ sentence, isRule: true })),
  ...others.map((sentence) => ({ sentence, isRule: false })),
]).filter(({ sentence }) => !/[?？]\s*$/.test(sentence))

let weights: Weights = {}
for (let round = 0; round < ROUNDS; round++) weights = regress(examples.map(row))
const lines = Object.entries(weights).filter(([, weight]) => weight !== 0)
console.log(lines.map(([feature, weight]) => `${feature} ${weight}`).join('\n'))

/** The features of the likeliest reading under the weights so far. */
function row({ sentence, isRule }: Example): [features: readonly string[], isRule: boolean] {
  const readings = findCues(sentence).map((cues) => featuresOf(cues, sentence))
  const [best] = readings.toSorted((a, b) => sumOf(b, weights) - sumOf(a, weights))
  return [
    [...(best ?? [])].filter((feature) => !/^(?:\^?[,?]|word|\^?skip|none)$/.test(feature)),
    isRule,
  ]
}

/** Newton's method. */
function regress(rows: readonly [readonly string[], boolean][]): Weights {
  const names = [...new Set(rows.flatMap(([features]) => features))]
  const columns = rows.map(([features]) => features.map((feature) => names.indexOf(feature)))
  const found = names.map(() => 0)
  for (let step = 0; step < STEPS; step++) {
    const slope = found.map((weight) => -COST * weight)
    const matrix: number[][] = names.map((_, at) =>
      names.map((__, other) => (at === other ? COST : 0)),
    )
    for (const [index, [, isRule]] of rows.entries()) {
      const at = columns[index] ?? []
      const sum = at.reduce((total, column) => total + (found[column] ?? 0), 0)
      const likely = 1 / (1 + Math.exp(-sum))
      for (const column of at) {
        slope[column] = (slope[column] ?? 0) + Number(isRule) - likely
        const cells = matrix[column] ?? []
        for (const other of at) cells[other] = (cells[other] ?? 0) + likely * (1 - likely)
      }
    }
    for (const [at, change] of solve(matrix, slope).entries()) found[at] = (found[at] ?? 0) + change
  }
  return Object.fromEntries(names.map((name, at) => [name, Math.round(SCALE * (found[at] ?? 0))]))
}

/** Gaussian elimination; the matrix is positive definite, so no row is zero. */
function solve(matrix: number[][], right: number[]): readonly number[] {
  const cell = (row: number, column: number) => matrix[row]?.[column] ?? 0
  for (let pivot = 0; pivot < right.length; pivot++) {
    for (let below = pivot + 1; below < right.length; below++) {
      const factor = cell(below, pivot) / cell(pivot, pivot)
      if (factor === 0) continue
      matrix[below] = (matrix[below] ?? []).map((value, at) => value - factor * cell(pivot, at))
      right[below] = (right[below] ?? 0) - factor * (right[pivot] ?? 0)
    }
  }
  const found = right.map(() => 0)
  for (let row = right.length - 1; row >= 0; row--) {
    const known = found.reduce((sum, value, at) => sum + (at > row ? value * cell(row, at) : 0), 0)
    found[row] = ((right[row] ?? 0) - known) / cell(row, row)
  }
  return found
}
