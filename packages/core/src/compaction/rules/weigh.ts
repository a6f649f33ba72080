import { type Cue, findCues } from './cues/find-cues.ts'

/**
 * How much in a sentence speaks for a standing instruction: the sum of the weights of its features,
 * which are the kinds of cues that occur in it, `^kind` for a kind that begins a clause, and a few
 * kinds that mean something else together. A sum above zero is a rule. The weights are the same in
 * all languages; `npm run eval:rules:fit` computes them.
 */
export interface Weighed {
  readonly sum: number
  readonly cues: readonly Cue[]
}

export interface Weights {
  readonly [feature: string]: number
}

export function weigh(sentence: string): Weighed {
  const readings = findCues(sentence).map((cues) => ({
    cues,
    sum: sumOf(featuresOf(cues, sentence), WEIGHTS),
  }))
  return readings.reduce((best, each) => (each.sum > best.sum ? each : best))
}

/** Kinds without which there is no rule. */
const RULING =
  'always every only dont not henceforth unless when must forbidden want keep ask limit than due form thing money'.split(
    ' ',
  )
/** Kinds that report, ask or chat; a note has none of them. */
const TALK = 'past ed happens i they it be do once maybe'.split(' ')
const PAIRS = 'do+when do+only use+always past+must past+always they+must want+do'.split(' ')
/** Signs of program text, a heading or a log, none of which a person's rule has. */
const CODE =
  /^\s*…|^\w\) |#\d|[a-z][A-Z][a-z]+[A-Z]|[@.]\/?\w+\/|\d-\d+ |[={}<>|[\]\\]|\w\(|\s--?\w|^[#$.]|\*\*|\w\.\w+:|\/\w+\/|\/\/|:$/
const SHORT_WORDS = 6

export function featuresOf(cues: readonly Cue[], sentence: string): ReadonlySet<string> {
  const kinds = new Set(cues.map(({ kind }) => kind))
  const features = new Set(['any', ...kinds])
  for (const { kind, isFirst } of cues) if (isFirst) features.add(`^${kind}`)
  for (const pair of PAIRS) if (pair.split('+').every((kind) => kinds.has(kind))) features.add(pair)
  if (CODE.test(sentence) || !RULING.some((kind) => kinds.has(kind))) features.add('none')
  if (!TALK.some((kind) => kinds.has(kind))) features.add('note')
  if (cues.length <= SHORT_WORDS) features.add('short')
  return features
}

export function sumOf(features: ReadonlySet<string>, weights: Weights): number {
  if (features.has('none')) return Number.NEGATIVE_INFINITY
  return [...features].reduce((sum, feature) => sum + (weights[feature] ?? 0), 0)
}

const WEIGHTS: Weights = {
  forbidden: 38,
  ask: 33,
  want: 28,
  note: 26,
  '^keep': 23,
  must: 23,
  '^always': 22,
  henceforth: 22,
  every: 20,
  dont: 20,
  'do+when': 18,
  '^not': 17,
  '^when': 14,
  money: 13,
  '^only': 13,
  'past+must': 13,
  thing: 11,
  limit: 11,
  '^dont': 10,
  '^use': 10,
  '^than': 10,
  '^limit': 10,
  '^once': 10,
  always: 9,
  'use+always': 9,
  number: 9,
  only: 9,
  'do+only': 9,
  form: 8,
  '^ask': 8,
  due: 8,
  '^due': 8,
  '^must': 8,
  '^form': 6,
  '^unless': 6,
  '^want': 5,
  use: 4,
  '^forbidden': 4,
  '^henceforth': 3,
  not: 3,
  '^thing': 2,
  when: 1,
  '^number': 1,
  keep: -2,
  be: -2,
  should: -2,
  do: -3,
  unless: -3,
  '^word': -4,
  it: -5,
  i: -5,
  '^i': -6,
  '^be': -6,
  '^it': -7,
  '^past': -7,
  any: -8,
  short: -8,
  they: -9,
  'want+do': -11,
  '^maybe': -12,
  'past+always': -12,
  '^should': -14,
  maybe: -15,
  once: -18,
  'they+must': -18,
  '^they': -18,
  '^do': -20,
  happens: -21,
  ed: -24,
  past: -30,
}
