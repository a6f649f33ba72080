const FENCE = /^[ \t]*```(?!.*```)/

/**
 * Whether a line opens or closes a block of code. Any indentation counts, because models indent
 * blocks inside lists. Three backticks on both sides of text on one line are a code span, not a
 * block.
 */
export function isFence(line: string): boolean {
  return FENCE.test(line)
}
