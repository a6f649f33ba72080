const FENCE = /^[ \t]*```(?!.*```)/

/**
 * Whether a line opens or closes a block of code. Models indent blocks in lists as they like; three
 * marks before and behind something on one line are a span of code and no block.
 */
export function isFence(line: string): boolean {
  return FENCE.test(line)
}
