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
  if (
    text.length >= LINE_CHARACTERS_MIN &&
    blanksOf(text) < text.length / 20 &&
    !DENSE.test(text)
  ) {
    return true
  }
  if (LOG.test(text)) return true
  const sample = text.slice(0, LINE_CHARACTERS_MIN)
  const prose = sample.match(/[\p{L}\p{M}\s]/gu)?.length ?? 0
  const words = sample.match(/[\p{L}\p{M}]{2,}/gu)?.length ?? 0
  if (DENSE.test(text)) return false
  return words < WORDS_MIN || prose < sample.length * PROSE_SHARE_MIN
}

const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{4}/u

const LOG =
  /^(?:[[(]?\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|FATAL)\b|at [\w.$<>]+ ?\(|\s*File "|[+-]{3} |@@ |diff --git|[{}[\]();]+$)/

function blanksOf(text: string): number {
  return text.match(/\s/g)?.length ?? 0
}
