/** One line: every run of white space becomes a single space. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\u0085]+/g, ' ').trim()
}

const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/
const INDENT = '  '

/**
 * Foreign text under a label, each line indented, so that it cannot imitate a label, which starts
 * at the beginning of a line.
 */
export function indentLines(text: string): string {
  return text
    .split(LINE_BREAK)
    .map((line) => (line === '' ? line : INDENT + line))
    .join('\n')
}

/** The same for text that begins on the label's line. */
export function indentRest(text: string): string {
  const indented = indentLines(text)
  return indented.startsWith(INDENT) ? indented.slice(INDENT.length) : indented
}

/** Foreign text within a person's own, as chat and mail programs quote it. */
export function quoteLines(text: string): string {
  return text
    .split(LINE_BREAK)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')
}

const LINE_CHARACTERS_MAX = 160

/** Cuts the end and marks the cut; never splits a character. */
export function clip(text: string, charactersMax = LINE_CHARACTERS_MAX): string {
  if (text.length <= charactersMax) return text
  const end = charactersMax - 1
  return `${text.slice(0, splitsCharacter(text, end) ? end - 1 : end)}…`
}

/** Whether a cut before `index` would leave half a surrogate pair on either side. */
export function splitsCharacter(text: string, index: number): boolean {
  const isLow = (text.charCodeAt(index) & 0xfc00) === 0xdc00
  return isLow && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800
}
