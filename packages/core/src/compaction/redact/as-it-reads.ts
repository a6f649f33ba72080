/**
 * What hides a key in a text: invisible characters from rich text, soft wrapping or on purpose
 * (zero-width characters, soft hyphens, direction marks, byte order marks, variation selectors), a
 * terminal's codes for colours (`grep --color` puts them into a key), the same written as escapes, and
 * percent signs of URLs. Secrets are found in the text as it reads; everything between their ends is masked.
 */
const HIDING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  /\p{Default_Ignorable_Code_Point}|\\u(?:00ad|200[b-f]|206[0-4]|fe0[\da-f]|feff)|(?:\x1b|\\u001b|\\x1b|\\e|\\033)\[[\d;]{0,20}[mK]|%[2-7][\da-f]/giu

interface Reading {
  readonly text: string
  /** The position of a character of this text in the original one. */
  readonly at: (index: number) => number
}

/** Undefined if nothing is hidden. */
export function asItReads(text: string): Reading | undefined {
  const ends: number[] = []
  const shifts: number[] = []
  let read = ''
  let done = 0
  for (const { index, 0: hidden } of text.matchAll(HIDING)) {
    read += text.slice(done, index)
    if (hidden.startsWith('%')) read += String.fromCharCode(Number.parseInt(hidden.slice(1), 16))
    done = index + hidden.length
    ends.push(read.length)
    shifts.push(done - read.length)
  }
  if (done === 0) return undefined
  read += text.slice(done)
  const at = (index: number) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) <= index) low = middle + 1
      else high = middle
    }
    return index + (shifts[low - 1] ?? 0)
  }
  return { text: read, at }
}
