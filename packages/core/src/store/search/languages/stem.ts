/**
 * Porter's stemmer (1980) for English: "compacted", "compaction" and "compacting" share a root. We
 * implement it so that every engine finds the same entries.
 */
const VOWEL = '[aeiouy]'
const C = '[^aeiou][^aeiouy]*'
const V = `${VOWEL}[aeiou]*`
const MEASURE_ABOVE_0 = new RegExp(`^(${C})?${V}${C}`)
const MEASURE_1 = new RegExp(`^(${C})?${V}${C}(${V})?$`)
const MEASURE_ABOVE_1 = new RegExp(`^(${C})?${V}${C}${V}${C}`)
const HAS_VOWEL = new RegExp(`^(${C})?${VOWEL}`)
const CVC = new RegExp(`^${C}${VOWEL}[^aeiouwxy]$`)
const DOUBLE = /([^aeiouylsz])\1$/

const STEP_2: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]
const STEP_3: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]
const STEP_4 =
  /(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$|(?<=[st])ion$/

export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word
  return dropE(dropSuffix(swap(swap(finalY(pastTense(plural(word))), STEP_2), STEP_3)))
}

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function pastTense(word: string): string {
  if (word.endsWith('eed')) {
    return MEASURE_ABOVE_0.test(word.slice(0, -3)) ? word.slice(0, -1) : word
  }
  const ending = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0
  const root = word.slice(0, word.length - ending)
  if (ending === 0 || !HAS_VOWEL.test(root)) return word
  if (/(at|bl|iz)$/.test(root)) return `${root}e`
  if (DOUBLE.test(root)) return root.slice(0, -1)
  return CVC.test(root) ? `${root}e` : root
}

function finalY(word: string): string {
  return word.endsWith('y') && HAS_VOWEL.test(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word
}

function swap(word: string, endings: readonly (readonly [string, string])[]): string {
  const found = endings.find(([ending]) => word.endsWith(ending))
  if (found === undefined) return word
  const root = word.slice(0, -found[0].length)
  return MEASURE_ABOVE_0.test(root) ? `${root}${found[1]}` : word
}

function dropSuffix(word: string): string {
  const root = word.replace(STEP_4, '')
  return root !== word && MEASURE_ABOVE_1.test(root) ? root : word
}

function dropE(word: string): string {
  let result = word
  const root = word.slice(0, -1)
  if (
    word.endsWith('e') &&
    (MEASURE_ABOVE_1.test(root) || (MEASURE_1.test(root) && !CVC.test(root)))
  ) {
    result = root
  }
  return result.endsWith('ll') && MEASURE_ABOVE_1.test(result) ? result.slice(0, -1) : result
}
