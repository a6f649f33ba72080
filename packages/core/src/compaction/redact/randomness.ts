/**
 * Distinguishes machine-made values from words. Used only where a name or a prefix already suggests
 * a secret, because hashes, identifiers and secrets look alike.
 */

const LENGTH_MIN = 16
// Random hex of 16 characters has at least 2.8 bits per character, words and counters less.
const ENTROPY_BITS_MIN = 2.8

export function looksRandom(value: string): boolean {
  if (value.length < LENGTH_MIN || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false
  return !isWordy(value) && entropyBits(value.slice(0, 200)) >= ENTROPY_BITS_MIN
}

/** Words and short numbers joined by separators or capitals: models, hosts, `PKCS7KeyTypes`. */
export function isWordy(value: string): boolean {
  return value.split(/[-_./:]/).every((piece) => WORDS.test(piece))
}

const WORDS = /^(?:[A-Za-z]*|[A-Z]{0,6}\d{0,2}[a-z]*(?:[A-Z][a-z]{2,})*)\d{0,8}$/

function entropyBits(value: string): number {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= count * Math.log2(count / value.length)
  return bits / value.length
}

const STAND_IN_WORDS =
  /^(?:null|nil|none|true|false|undefined|unset|empty|string|str|number|int|integer|float|bool|boolean|bytes|byte|char|varchar|text|object|any|unknown|never|void|optional|required|redacted|masked|hidden|placeholder|password|passwd|pwd|secret|token|key|default|yes|no|on|off|pass|fail|failed)$/i

// Shell and SQL variables, templates, format codes, bracketed remarks, tags of YAML, members of the
// environment, escapes, dots.
const STAND_IN_SHAPES =
  /^(?:\$\w+$|\$[{(]|%[a-z_(]\w*[)%]?\w?$|<[^<>]{0,80}>?$|\{|\[[\w :.-]{0,80}\]?$|\(|@[a-z_]+$|![a-z]+$|\\|process\.env|os\.|env\.|args\.|--|\.\.\.|…)/i

/** Placeholders for a value. */
export function isStandIn(value: string): boolean {
  return (
    STAND_IN_SHAPES.test(value) ||
    value.includes('${') ||
    value.includes('{{') ||
    /^([*x.#•-])\1*$/i.test(value) ||
    STAND_IN_WORDS.test(value)
  )
}
