const FENCE = /^[ \t]*```(?!.*```)/

/**
 * Whether a line opens or closes a block of code. Models indent blocks in lists freely. Three marks
 * before and after text on one line are a code span, not a block.
 */
export function isFence(line: string): boolean {
  return FENCE.test(line)
}
