/**
 * Cuts text into the words that may be worth keeping: what stands between blanks, quotes, brackets
 * and the operators of shells and JSON. One pass over character codes, so that no input costs more
 * than its length; a word that is too long to be a name is passed over without being copied.
 */
const WORD_CHARACTERS_MIN = 4
const WORD_CHARACTERS_MAX = 160

const SEPARATOR = 1
const DIGIT = 2
const LETTER = 4
/** What names are built with: a word without a digit or one of these is prose. */
const MARK = 8

const CLASSES = new Uint8Array(128)
for (let code = 0; code <= 32; code++) CLASSES[code] = SEPARATOR
for (const mark of '"\'`,;(){}[]<>|&=') CLASSES[mark.charCodeAt(0)] = SEPARATOR
for (const mark of '/._#-') CLASSES[mark.charCodeAt(0)] = MARK
for (let code = 48; code <= 57; code++) CLASSES[code] = DIGIT
for (let code = 65; code <= 90; code++) CLASSES[code] = CLASSES[code + 32] = LETTER

/** Visits the words that hold a digit or a mark, and three letters or digits in a row. */
export function eachWord(text: string, visit: (word: string) => void): void {
  let start = 0
  let seen = 0
  let run = 0
  let hasRun = false
  for (let index = 0; index <= text.length; index++) {
    const code = index < text.length ? text.charCodeAt(index) : 32
    const kind = code < 128 ? (CLASSES[code] ?? 0) : classOfWide(code)
    if (kind !== SEPARATOR) {
      seen |= kind
      run = (kind & (DIGIT | LETTER)) === 0 ? 0 : run + 1
      if (run === 3) hasRun = true
      continue
    }
    if (hasRun && (seen & (DIGIT | MARK)) !== 0) {
      let from = start
      let to = index
      while (from < to && isTrimmed(text.charCodeAt(from))) from++
      while (from < to && isTrimmed(text.charCodeAt(to - 1))) to--
      const length = to - from
      if (length >= WORD_CHARACTERS_MIN && length <= WORD_CHARACTERS_MAX)
        visit(text.slice(from, to))
    }
    start = index + 1
    seen = 0
    run = 0
    hasRun = false
  }
}

/** Points and colons end sentences and labels more often than they belong to a name. */
function isTrimmed(code: number): boolean {
  return code === 46 || code === 58
}

/** Wide blanks, typographic quotes, arrows and boxes of listings part words; other scripts do not. */
function classOfWide(code: number): number {
  if (code >= 0x2000 && code <= 0x206f) return SEPARATOR
  if (code >= 0x2190 && code <= 0x25ff) return SEPARATOR
  return code === 0xa0 || code === 0x3000 ? SEPARATOR : 0
}
