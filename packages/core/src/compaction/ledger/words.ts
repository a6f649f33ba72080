/**
 * Cuts text into words that may be worth keeping, at spaces, quotes, brackets and the operators of
 * shells and JSON. One pass over character codes, so that no input costs more than its length; a
 * word that is too long to be a name is passed over without being copied.
 */
const WORD_CHARACTERS_MIN = 4
const WORD_CHARACTERS_MAX = 160
const RUN_CHARACTERS_MIN = 3

const SEPARATOR = 1
const DIGIT = 2
const LETTER = 4
/** Characters of names: a word without a digit or one of these is prose. */
const MARK = 8

const CLASSES = new Uint8Array(2 ** 16)
CLASSES.fill(SEPARATOR, 0, 33)
for (const mark of '"\'`,;(){}[]<>|&=') CLASSES[mark.charCodeAt(0)] = SEPARATOR
for (const mark of '/._#-') CLASSES[mark.charCodeAt(0)] = MARK
for (let code = 48; code <= 57; code++) CLASSES[code] = DIGIT
for (let code = 65; code <= 90; code++) CLASSES[code] = CLASSES[code + 32] = LETTER
// Wide spaces, typographic quotes, arrows and box characters separate words; other scripts do not.
CLASSES.fill(SEPARATOR, 0x2000, 0x2070)
CLASSES.fill(SEPARATOR, 0x2190, 0x2600)
CLASSES[0xa0] = CLASSES[0x3000] = SEPARATOR

/** Visits words that contain a digit or a mark, and three letters or digits in a row. */
export function eachWord(text: string, visit: (word: string) => void): void {
  const { length } = text
  for (let start = 0; start < length; start++) {
    let kinds = 0
    let end = start
    for (; end < length; end++) {
      const kind = CLASSES[text.charCodeAt(end)] as number
      if (kind === SEPARATOR) break
      kinds |= kind
    }
    // Most words are prose and end here.
    if ((kinds & (DIGIT | MARK)) !== 0) visitName(text, start, end, visit)
    start = end
  }
}

function visitName(text: string, start: number, end: number, visit: (word: string) => void): void {
  if (end - start < WORD_CHARACTERS_MIN || !hasRun(text, start, end)) return
  let from = start
  let to = end
  while (from < to && isTrimmed(text.charCodeAt(from))) from++
  while (from < to && isTrimmed(text.charCodeAt(to - 1))) to--
  const characters = to - from
  if (characters < WORD_CHARACTERS_MIN || characters > WORD_CHARACTERS_MAX) return
  visit(text.slice(from, to))
}

function hasRun(text: string, from: number, to: number): boolean {
  let run = 0
  for (let index = from; index < to && run < RUN_CHARACTERS_MIN; index++) {
    const kind = CLASSES[text.charCodeAt(index)] ?? 0
    run = (kind & (DIGIT | LETTER)) === 0 ? 0 : run + 1
  }
  return run === RUN_CHARACTERS_MIN
}

/** Points and colons end sentences and labels more often than they belong to a name. */
function isTrimmed(code: number): boolean {
  return code === 46 || code === 58
}
