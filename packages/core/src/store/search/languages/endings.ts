/** A stem of fewer letters is shared by too many words. */
const STEM_LETTERS_MIN = 3

/** Removes the longest of the endings that leaves a stem, if there is one. */
export function withoutEnding(list: string): (word: string) => string {
  const endings = new Set(list.trim().split(/\s+/))
  const longest = Math.max(...[...endings].map(({ length }) => length))
  return (word) => {
    for (let cut = Math.min(longest, word.length - STEM_LETTERS_MIN); cut > 0; cut--) {
      if (endings.has(word.slice(-cut))) return word.slice(0, -cut)
    }
    return word
  }
}

export function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}

/** Families of words that no rule brings together, "go went gone, ...": each form with its base. */
export function irregularForms(families: string): ReadonlyMap<string, string> {
  return new Map(
    families.split(',').flatMap((family) => {
      const [base = '', ...forms] = family.trim().split(/\s+/)
      return forms.map((form) => [form, base] as const)
    }),
  )
}

/** Words with digits or signs are names, and names have no endings. */
export function isLatin(word: string): boolean {
  return /^[a-z]+$/.test(word)
}
