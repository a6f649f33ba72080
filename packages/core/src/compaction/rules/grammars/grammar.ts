/**
 * How rules are phrased in one language, by class: a scope beyond this moment, an order that is
 * general by its verb, a prohibition, a norm with a subject, a preference, a budget or deadline,
 * and phrases that only resemble one of them. All in lower case. Compiled on first use of the
 * language, because compiling takes longer than searching.
 */
export interface Grammar {
  /** Common words of the language; its patterns are tried if it has more of them than English. */
  readonly words: string
  readonly rules: readonly string[]
  /** Reports of others, the past, facts about a third party, set phrases. */
  readonly others: readonly string[]
}

/** `other`: the sentence is in this language, but is not a rule. */
type Verdict = 'rule' | 'other' | undefined

export function recognizer({ words, rules, others }: Grammar): (text: string) => Verdict {
  const known = new Set(words.split(' '))
  let compiled: { readonly rule: RegExp; readonly other: RegExp } | undefined
  return (text) => {
    const found = text.match(/\p{L}+/gu) ?? []
    const own = found.filter((word) => known.has(word)).length
    if (own === 0 || own < found.filter((word) => ENGLISH.has(word)).length) return undefined
    compiled ??= { rule: compile(rules), other: compile(others) }
    if (compiled.other.test(text)) return 'other'
    return compiled.rule.test(text) ? 'rule' : undefined
  }
}

const ENGLISH = new Set(
  'the an of to and is are was were be been we you he she they it i for that this these those with in on at by from not no do does did have has had will would can could should must may if when what why how which who there my your our their me us them as or but so than then'.split(
    ' ',
  ),
)

/** Replaces `\b`: the edge of a word in any script. */
const EDGE = '(?:(?<=\\p{L})(?!\\p{L})|(?<!\\p{L})(?=\\p{L}))'

function compile(patterns: readonly string[]): RegExp {
  return new RegExp(patterns.map((each) => `(?:${each.replaceAll('\\b', EDGE)})`).join('|'), 'u')
}
