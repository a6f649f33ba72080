import { oneLine } from '../../base/line.ts'

const SENTENCE_CHARACTERS_MAX = 400
const WORDS_MIN = 2

/** Split at ends of sentences and lines; items of a list lose their mark. */
export function splitSentences(text: string): readonly string[] {
  return text
    .split(/(?<=[^\d\s][.!?…])\s+|(?<=[。！？])|\n+|;\s+/u)
    .map((part) => oneLine(part.replace(/^[\s*•–-]+|^\d{1,2}[.)]\s+/u, '')))
    .filter((part) => part.length <= SENTENCE_CHARACTERS_MAX && countWords(part) >= WORDS_MIN)
}

function countWords(text: string): number {
  return (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) + (DENSE.test(text) ? WORDS_MIN : 0)
}

const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{3}/u
const QUOTED =
  /"[^"\n]{1,400}"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|「[^」\n]{1,400}」|`[^`\n]{1,200}`/gu

export function dropQuotations(sentence: string): string {
  return sentence.replace(QUOTED, ' … ')
}

export function endsAsQuestion(sentence: string): boolean {
  return /[?？]\s*$/.test(sentence)
}
