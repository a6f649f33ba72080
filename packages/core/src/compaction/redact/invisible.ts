/**
 * Invisible characters inside a key, from rich text, soft wrapping or on purpose: zero-width characters,
 * soft hyphens, direction marks, byte order marks, variation selectors, a terminal's codes for colours
 * (`grep --color` puts them into a key), and the same written as escapes. Secrets are found in the visible text; everything between their ends is masked.
 */
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  /\p{Default_Ignorable_Code_Point}|\\u(?:00ad|200[b-f]|206[0-4]|fe0[\da-f]|feff)|(?:\x1b|\\u001b|\\x1b|\\e|\\033)\[[\d;]{0,20}[mK]/giu

export interface Visible {
  readonly text: string
  /** The position of a visible character in the original text. */
  readonly at: (index: number) => number
}

/** Undefined if the text has no invisible characters. */
export function withoutInvisible(text: string): Visible | undefined {
  const ends: number[] = []
  const shifts: number[] = []
  let visible = ''
  let done = 0
  for (const { index, 0: hidden } of text.matchAll(INVISIBLE)) {
    visible += text.slice(done, index)
    done = index + hidden.length
    ends.push(visible.length)
    shifts.push(done - visible.length)
  }
  if (done === 0) return undefined
  visible += text.slice(done)
  const at = (index: number) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) <= index) low = middle + 1
      else high = middle
    }
    return index + (shifts[low - 1] ?? 0)
  }
  return { text: visible, at }
}
