import { wordsOf } from '../../store/search/words.ts'

/**
 * Notes that claim a gap: "I have no record of the deploy". Written down, such a note makes an agent
 * deny for ever what its own transcript holds; so the claim is checked before it is believed.
 *
 * Gives the words of what is said to be missing; null where nothing is claimed.
 */
export function claimedMissing(text: string): readonly string[] | null {
  const folded = text.slice(0, TEXT_MAX).replaceAll('’', "'")
  const claim = CLAIMS.find((pattern) => pattern.test(folded))
  if (claim === undefined) return null
  const words = wordsOf(folded.replace(claim, ' '))
  const telling = words.filter((word) => word.length > 2 && !COMMON.has(word))
  return [...new Set(telling)]
}

/** Whether a text tells of the thing: of two words both, of more the larger part. */
export function tellsOf(words: readonly string[], text: string): boolean {
  const found = new Set(wordsOf(text))
  const needed = words.length <= 2 ? words.length : Math.ceil(words.length * 0.6)
  return needed > 0 && words.filter((word) => found.has(word)).length >= needed
}

const TEXT_MAX = 2_000

// Each matches in linear time: no two neighbouring parts can take the same characters.
const CLAIMS = [
  /\bno (?:prior |previous |earlier )?(?:record|memory|recollection|knowledge|trace|information|note|mention)s? (?:of|about|on|regarding)\b/i,
  /\b(?:do|does|did|can|could)(?: not|n't) (?:remember|recall|know (?:of|about)|have (?:any )?(?:record|memory|information))\b/i,
  /\bcannot (?:remember|recall)\b/i,
  /\bnever (?:heard|told|informed|mentioned|discussed)\b/i,
  /\b(?:not aware|unaware) of\b/i,
  /\b(?:is|was|are|were)(?: not|n't) (?:in|part of) (?:my|the) (?:memory|records?|transcript|history|context)\b/i,
]

const COMMON = new Set(
  wordsOf(
    'the a an and or but any all some this that these those there here was were are is been being ' +
      'have has had not with without from for about into over under than then when where which who ' +
      'whom what why how can could should would will may might must does did done our your their ' +
      'his her its my mine yours user agent session conversation earlier before previous previously ' +
      'record memory transcript history context note notes remember recall told said mentioned know',
  ),
)
