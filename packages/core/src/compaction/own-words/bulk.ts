import { isAscii } from '../../base/bytes.ts'
import { characterClasses } from '../../base/character-classes.ts'

/** A stretch of a text that is not the person's own. */
export interface TextSpan {
  readonly from: number
  readonly to: number
  readonly name: string
}

/**
 * Pasted bulk: code fences, logs, tables of numbers, encoded bytes, minified code. A run of lines
 * counts if they contain no sentence and are long together; a single short line never does.
 */
const RUN_CHARACTERS_MIN = 400
const LINE_CHARACTERS_MIN = 500

export function findBulk(text: string): readonly TextSpan[] {
  if (text.length < RUN_CHARACTERS_MIN) return []
  const stretches: TextSpan[] = []
  let run: { from: number; to: number } | undefined
  const close = () => {
    if (run !== undefined && run.to - run.from >= RUN_CHARACTERS_MIN) {
      stretches.push({ ...run, name: 'bulk' })
    }
    run = undefined
  }
  let isFenced = false
  let at = 0
  for (const line of text.split('\n')) {
    const to = Math.min(text.length, at + line.length + 1)
    const isFence = line.trimStart().startsWith('```')
    if (isFence || isFenced || isNoSentence(line)) {
      if (run === undefined) run = { from: at, to }
      else run.to = to
    } else if (line.trim() === '' && run !== undefined) run.to = to
    else close()
    if (isFence) isFenced = !isFenced
    at = to
  }
  close()
  return stretches
}

const PROSE_SHARE_MIN = 0.8
const WORDS_MIN = 3

/** Letters and blanks make up most of a sentence; encoded and minified text has hardly a blank. */
function isNoSentence(line: string): boolean {
  const text = line.trim()
  if (text === '') return false
  // Lines that end in blanks were copied from a screen.
  if (line.endsWith('    ')) return true
  if (text.length >= LINE_CHARACTERS_MIN && !hasBlanks(text, text.length / 20) && !isDense(text)) {
    return true
  }
  if (LOG.test(text)) return true
  return !isProse(text.slice(0, LINE_CHARACTERS_MIN)) && !isDense(text)
}

const IS_LETTER = 1
const IS_BLANK = 2
const classOf = characterClasses(/[\p{L}\p{M}]/u, /\s/)

/** Has enough letters and blanks, and words of two letters or more. */
function isProse(text: string): boolean {
  const charactersMin = text.length * PROSE_SHARE_MIN
  let characters = 0
  let words = 0
  let run = 0
  for (let at = 0; at < text.length; at++) {
    // Neither enough already, nor with all that is left.
    if (words >= WORDS_MIN && characters >= charactersMin) return true
    if (characters + text.length - at < charactersMin) return false
    let code = text.charCodeAt(at)
    if ((code & 0xf800) === 0xd800) code = text.codePointAt(at) ?? 0
    if (code > 0xffff) at++
    const kind = classOf(code)
    if (kind !== 0) characters++
    run = kind === IS_LETTER ? run + 1 : 0
    if (run === 2) words++
  }
  return words >= WORDS_MIN && characters >= charactersMin
}

function isDense(text: string): boolean {
  return !isAscii(text) && DENSE.test(text)
}

const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{4}/u

const LOG =
  /^(?:[[(]?\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|FATAL)\b|at [\w.$<>]+ ?\(|\s*File "|[+-]{3} |@@ |diff --git|[{}[\]();]+$)/

/** Stops at that many: a message of a megabyte is usually prose, and a third of it shows that. */
function hasBlanks(text: string, count: number): boolean {
  // Most blanks are spaces, which the engine finds faster than a loop.
  let spaces = 0
  for (let at = text.indexOf(' '); at !== -1 && spaces < count; at = text.indexOf(' ', at + 1))
    spaces++
  if (spaces >= count) return true
  let blanks = 0
  for (let at = 0; at < text.length && blanks < count; at++) {
    if ((classOf(text.charCodeAt(at)) & IS_BLANK) !== 0) blanks++
  }
  return blanks >= count
}
