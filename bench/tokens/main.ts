import { observe, predictNext, UNCALIBRATED } from '../../packages/core/src/tokens/calibration.ts'
import { estimateMessage } from '../../packages/core/src/tokens/estimate.ts'
import { familyOf } from '../../packages/core/src/tokens/family.ts'
import { CORPUS_ABSENT, corpusDir } from '../../test/support/corpus.ts'
import { readSessions, type SessionCalls, type Stretch } from './calls.ts'

/**
 * How well the estimate agrees with what providers reported.
 *
 * Input of a call: fresh tokens + written to the cache + read from the cache, as reported.
 * Pair: two consecutive calls of one session and model with neither a compaction nor a broken reply
 * between them. Growth: the second call's input less the first's.
 * Estimated growth: the estimate of the first call's reply, its thinking included, and of every
 * message logged between the two.
 *
 * Growth ratio (uncalibrated): estimated / reported growth, over the pairs with a growth above
 * zero. Required: median within 10% of 1.
 * Total error (calibrated): |predicted - reported| / reported, where predicted is the first call's
 * reported input + estimated growth x the ratio learnt from the earlier pairs of the same session
 * and model. Over all pairs. Required: median at most 3%.
 * Most calls add little to a long context, so "as before", which predicts no growth at all, is
 * printed beside it as the bar to clear, and the growth error, |predicted - reported| / reported
 * growth, without and with calibration, as the harder measure.
 *
 * What the files do not hold, and the figures therefore carry as error: reminders that the agent's
 * program adds without logging them, images (counted by the constant, their bytes are not logged),
 * thinking that the provider drops when a new turn begins, changed tool sets.
 */

interface Pair {
  readonly group: string
  readonly reportedGrowth: number
  readonly estimatedGrowth: number
  readonly predictedGrowth: number
  readonly reportedInput: number
}

const corpus = corpusDir()
if (corpus === undefined) console.log(CORPUS_ABSENT)
else report(readSessions(corpus).flatMap(pairsOf))

function pairsOf(session: SessionCalls): readonly Pair[] {
  const pairs: Pair[] = []
  const calibrations = new Map<string, typeof UNCALIBRATED>()
  for (const stretch of session.stretches)
    pairs.push(...pairsOfStretch(stretch, session, calibrations))
  return pairs
}

function pairsOfStretch(
  stretch: Stretch,
  session: SessionCalls,
  calibrations: Map<string, typeof UNCALIBRATED>,
): readonly Pair[] {
  const pairs: Pair[] = []
  for (const [index, call] of stretch.entries()) {
    const before = stretch[index - 1]
    if (before === undefined || before.model !== call.model) continue
    const family = familyOf(call.model)
    const calibration = calibrations.get(call.model) ?? UNCALIBRATED
    const estimated = call.added.reduce((sum, added) => sum + estimateMessage(added, family), 0)
    const reported = call.reportedInput - before.reportedInput
    const predicted = predictNext({
      lastReportedTotal: before.reportedInput,
      estimatedGrowth: estimated,
      calibration,
    })
    pairs.push({
      group: `${session.source} ${call.model}`,
      reportedGrowth: reported,
      estimatedGrowth: estimated,
      predictedGrowth: predicted - before.reportedInput,
      reportedInput: call.reportedInput,
    })
    calibrations.set(call.model, observe(calibration, { estimated, reported }))
  }
  return pairs
}

function report(pairs: readonly Pair[]): void {
  const groups = new Map([['all', pairs], ...Map.groupBy(pairs, (pair) => pair.group)])
  const rows = [...groups].map(([group, members]) => {
    const grown = members.filter((pair) => pair.reportedGrowth > 0)
    const ratios = grown.map((pair) => pair.estimatedGrowth / pair.reportedGrowth)
    const totals = members.map((pair) => missed(pair, pair.predictedGrowth) / pair.reportedInput)
    const asBefore = members.map((pair) => missed(pair, 0) / pair.reportedInput)
    const rough = grown.map((pair) => missed(pair, pair.estimatedGrowth) / pair.reportedGrowth)
    const fine = grown.map((pair) => missed(pair, pair.predictedGrowth) / pair.reportedGrowth)
    return {
      group,
      pairs: members.length,
      grown: grown.length,
      'growth ratio': spread(ratios, (value) => value.toFixed(2)),
      'total error': spread(totals, percent),
      'as before': percent(quantile(asBefore, 0.5)),
      'growth error': `${percent(quantile(rough, 0.5))} -> ${percent(quantile(fine, 0.5))}`,
    }
  })
  console.log('growth ratio and total error: median (p10 to p90); the others: median')
  console.table(rows)
}

function missed(pair: Pair, growth: number): number {
  return Math.abs(growth - pair.reportedGrowth)
}

function spread(values: readonly number[], write: (value: number) => string): string {
  const [low, middle, high] = [0.1, 0.5, 0.9].map((share) => write(quantile(values, share)))
  return `${middle} (${low} to ${high})`
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`
}
