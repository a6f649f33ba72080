/** One line: every run of blanks and line breaks becomes a blank. */
export function fold(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

const LINE_CHARACTERS_MAX = 160

/** Cut at the end, with a sign that it was, and never through a character. */
export function clip(text: string, charactersMax = LINE_CHARACTERS_MAX): string {
  if (text.length <= charactersMax) return text
  const end = charactersMax - 1
  const isHigh = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return `${text.slice(0, isHigh ? end - 1 : end)}…`
}
