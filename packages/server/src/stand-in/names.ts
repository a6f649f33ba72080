/** Finds exact names word by word, so that the time is linear for any text. */
const SEPARATORS = /[\s"'`,;()<>[\]{}|]+/
const LENGTH_MAX = 300

const KINDS = {
  url: /^https?:\/\/./,
  path: /^(?:~|\.{1,2})?\/?(?:[\w.@+-]+\/)+[\w.@+-]*$|^\/[\w.@+-]+$|^[\w-]+\.[a-z]{1,5}$/,
  identifier: /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9_.:-]{4,}$|^[A-Z][A-Z0-9_-]{3,}$/,
} as const

export function findNames(text: string, kind: keyof typeof KINDS): readonly string[] {
  return text
    .split(SEPARATORS)
    .map((word) => word.replace(/[.:!?]$/, ''))
    .filter((word) => word.length <= LENGTH_MAX && KINDS[kind].test(word))
}

/** Paths, URLs and identifiers, each once, in the order in which they were last seen. */
export function findAllNames(text: string): readonly string[] {
  const names = new Set<string>()
  for (const word of text.split(SEPARATORS)) {
    const name = word.replace(/[.:!?]$/, '')
    if (name.length > LENGTH_MAX || !Object.values(KINDS).some((kind) => kind.test(name))) continue
    names.delete(name)
    names.add(name)
  }
  return [...names]
}
