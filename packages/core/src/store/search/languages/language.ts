/**
 * How a language reduces words to roots. Words are already folded: lower case, no diacritics. Indexes
 * consist of these roots, and erasing an entry computes them again: a change of any list or rule needs
 * a migration that empties the indexes.
 */
export interface Language {
  readonly name: string
  /** Words that carry no meaning by themselves, also folded. */
  readonly functionWords: ReadonlySet<string>
  /** Its letters and signs beyond ASCII, not folded: they tell its texts from others. */
  readonly letters: string
  stem(word: string): string
}
