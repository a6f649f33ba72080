import { isTyped } from '../filter.ts'
import { partsOf, UNSPACED } from '../words.ts'

/**
 * Identifiers and paths as a question spells them. The index knows which words a passage holds, but
 * not that they stand together, so the texts of the best entries are compared with the spelling.
 */
const LETTER = `[[\\p{L}\\p{M}\\p{N}]--${UNSPACED}]`
const SIGN = '[_\\-.\\/\\\\:@#$%&+=~*\\|<>\\(\\)\\[\\]\\{\\}]'
/** Words with signs and no blanks between them; each character is looked at a few times at most. */
const JOINED = new RegExp(`${LETTER}+(?:${SIGN}{1,3}${LETTER}+)*`, 'gv')
const HAS_SIGN = new RegExp(SIGN, 'v')
const IS_LETTER = new RegExp(LETTER, 'v')
const SPELLINGS_MAX = 8

/** None in a question of plain words. */
export function spellingsIn(question: string): readonly string[] {
  if (!isTyped(question)) return []
  const runs = question.normalize('NFC').match(JOINED) ?? []
  const found = runs.filter((run) => HAS_SIGN.test(run) || partsOf(run).length > 0)
  return [...new Set(found)].slice(0, SPELLINGS_MAX)
}

/** More spellings weigh more; of as many, the more of them in the same case. */
export function spelledIn(text: string, spellings: readonly string[]): number {
  const written = text.normalize('NFC')
  const folded = written.toLowerCase()
  let weight = 0
  for (const spelling of spellings) {
    if (!standsIn(folded, spelling.toLowerCase())) continue
    weight += standsIn(written, spelling) ? SPELLINGS_MAX + 2 : SPELLINGS_MAX + 1
  }
  return weight
}

/** "p1.x12" does not contain "p1.x1", but "src/p1.x1" does. */
function standsIn(text: string, spelling: string): boolean {
  for (let at = text.indexOf(spelling); at >= 0; at = text.indexOf(spelling, at + 1)) {
    const [before = '', after = ''] = [text[at - 1], text[at + spelling.length]]
    if (!IS_LETTER.test(before) && !IS_LETTER.test(after)) return true
  }
  return false
}
