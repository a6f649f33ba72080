import { isStandIn, isWordy, looksRandom } from './randomness.ts'
import type { Secret } from './secret.ts'
import { bareValue, openingQuote, quotedValue } from './value.ts'

/**
 * Secrets recognized by their name: `PASSWORD=…`, `"api_key": "…"`, `token: …`, `--password …`,
 * `<password>…</password>`.
 *
 * Code mentions passwords far more often than it contains one, so the name alone decides nothing:
 * the value must be a literal, and the weaker the name the more machine-made it must look. Linear:
 * around every name a bounded number of characters is read.
 */

// The qualifier before `key` is checked only where that word occurs: few letters can begin a name,
// so most of a text is skipped quickly.
const NAMES =
  /pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|mnemonic|auth(?!or)|key(?<=((?:api|access|account|private|shared|signing|encryption|master|storage|service|license|session|deploy|admin|webhook|client|function|host)[ _-]?)key)|connection[_-]?string/gi

const NAME_CHARACTERS_MAX = 48

/** The way a value was written decides how much evidence is required. */
interface Assignment {
  readonly name: string
  readonly value: string
  readonly from: number
  readonly form: 'quoted' | 'flag' | 'environment' | 'bare' | 'line'
}

export function findAssignments(text: string): readonly Secret[] {
  const secrets: Secret[] = []
  NAMES.lastIndex = 0
  for (let hit = NAMES.exec(text); hit !== null; hit = NAMES.exec(text)) {
    const at = hit.index - (hit[1]?.length ?? 0)
    const assignment = assignmentAt(text, at, NAMES.lastIndex)
    if (assignment === undefined) continue
    const secret = secretIn(assignment)
    if (secret === undefined) continue
    // Punctuation that ends a sentence may also end a password: mask it, but ignore it in the check.
    SHOUTED.lastIndex = secret.to
    const to = SHOUTED.test(text) ? SHOUTED.lastIndex : secret.to
    secrets.push({ ...secret, to })
    NAMES.lastIndex = to
  }
  return secrets
}

const SHOUTED = /[!?]{1,16}/y

// The rest of the name, the quote or bracket that closes it, a type, and the sign between name and
// value; or the pair of fields that container settings use, `name: X` and `value: y`. A space alone
// separates a flag from its value, `PASSWORD 'x'` in SQL, and netrc's fields.
const SEPARATOR =
  /([\w-]{0,24})(?:\\{0,3}["'`]\]?)?(?:,?\s{1,24}\\{0,3}["']?value\\{0,3}["']? ?(:) ?|,["']value["'](:)|(?:: ?[A-Za-z]{2,16})?[ \t]{0,8}(:=|=>|=|:|\|)(?![=:|])[ \t]{0,8}(?:(?:&[\w-]{1,30}|!!?\w{1,20})[ \t]{1,4}(?=[^|>\s]))?| {1,8}(?=[^\s])|(>))/y

function assignmentAt(text: string, at: number, end: number): Assignment | undefined {
  SEPARATOR.lastIndex = end
  const match = SEPARATOR.exec(text)
  if (match === null) return undefined
  const begin = startOfName(text, at)
  const name = text.slice(begin, end) + (match[1] ?? '')
  const separator = match.slice(2).find((sign) => sign !== undefined) ?? ' '
  const opened = openingQuote(text, SEPARATOR.lastIndex)
  const from = SEPARATOR.lastIndex + opened.length

  if (separator === ' ') {
    const isFlag = name.startsWith('--') || (name.startsWith('-') && name.length > 3)
    if (!isFlag && !isFieldBySpace(text, begin, name, opened)) return undefined
    const value = opened === '' ? bareValue(text, from) : quotedValue(text, from, opened)
    return value === undefined ? undefined : { name, value, from, form: 'flag' }
  }
  if (separator === '>') {
    if (text.charAt(begin - 1) !== '<') return undefined
    const value = VALUE_IN_ELEMENT.exec(text.slice(from, from + 256))?.[0]
    return value === undefined ? undefined : { name, value, from, form: 'quoted' }
  }
  if (opened !== '') {
    const value = quotedValue(text, from, opened)
    return value === undefined ? undefined : { name, value, from, form: 'quoted' }
  }
  if (separator === ':') {
    const below = WORD_BELOW.exec(text.slice(from, from + BELOW_CHARACTERS_MAX))?.[1]
    if (below !== undefined)
      return { name, value: below, from: text.indexOf(below, from), form: 'bare' }
  }
  const words = separator === ':' ? (blockAt(text, from) ?? phraseAt(text, from, name)) : undefined
  if (words !== undefined) return { name, form: 'line', ...words }
  const isTight = separator === '=' && text.charAt(from - 1) === '='
  const value = bareValue(text, from, isTight && /[?&]/.test(text.charAt(begin - 1)))
  if (value === undefined) return undefined
  return {
    name,
    value,
    from,
    form: formOfBare(text, { begin, end: from + value.length, name, isTight }),
  }
}

const BELOW_CHARACTERS_MAX = 300
/** In YAML a value may be a line of its own; a key or a list is none. */
const WORD_BELOW = /^\r?\n[ \t]{1,40}([^\s#:-]\S{2,250}(?<!:))[ \t]{0,4}(?:[\r\n]|$)/

type Words = Pick<Assignment, 'value' | 'from'>

const BLOCK = /[|>][+-]?\d?[ \t]{0,4}\r?\n[ \t]{1,40}(\S{1,4096})/y

/** In YAML a value may be on the next line. */
function blockAt(text: string, at: number): Words | undefined {
  BLOCK.lastIndex = at
  const value = BLOCK.exec(text)?.[1]
  return value === undefined ? undefined : { value, from: BLOCK.lastIndex - value.length }
}

const PHRASE = /[a-z]{2,12}(?: [a-z]{2,12}){3,23}(?=[ \t]{0,4}(?:[\r\n]|$))/y
const SENTENCE = /\b(?:the|is|are|be|must|should|your|this|that|to|of|not|and|or|for|in|if|it)\b/

/** A phrase without quotes, to the end of its line; a sentence about phrases has small words. */
function phraseAt(text: string, at: number, name: string): Words | undefined {
  if (!/phrase|mnemonic/i.test(name)) return undefined
  PHRASE.lastIndex = at
  const value = PHRASE.exec(text)?.[0]
  return value === undefined || SENTENCE.test(value) ? undefined : { value, from: at }
}

const VALUE_IN_ELEMENT = /^[^<>\s]+(?=<\/)/

function startOfName(text: string, at: number): number {
  let begin = at
  const first = Math.max(0, at - NAME_CHARACTERS_MAX)
  while (begin > first && /[\w-]/.test(text.charAt(begin - 1))) begin--
  // The `n` of an escaped line break is not part of the name.
  if (begin > 0 && text.charAt(begin - 1) === '\\' && /[nrt]/.test(text.charAt(begin))) begin++
  return begin
}

function isFieldBySpace(text: string, begin: number, name: string, opened: string): boolean {
  if (name === 'PASSWORD' && opened !== '') return true
  return (
    name === 'password' &&
    /\blogin \S{1,64}\s{1,8}$/.test(text.slice(Math.max(0, begin - 80), begin))
  )
}

function formOfBare(
  text: string,
  assignment: { begin: number; end: number; name: string; isTight: boolean },
): Assignment['form'] {
  const { begin, end, name, isTight } = assignment
  if (name.startsWith('--')) return 'flag'
  if (isTight && /^[A-Z][A-Z0-9_]+$/.test(name)) return 'environment'
  const after = text.charAt(end)
  const before = text.slice(Math.max(0, begin - 12), begin)
  const isWholeLine =
    (after === '' || after === '\n' || after === '\r') && /(?:^|\n)[ \t-]{0,12}$/.test(before)
  const isQueryField = isTight && /[?&;]$/.test(before)
  return isWholeLine || isQueryField ? 'line' : 'bare'
}

const PASSWORD = /(?:password|passwd|passphrase|passcode|pwd|mnemonic)\d{0,2}$/
/** `pass` ends many words; it must be a word of its own. */
const PASS = /(?:^|[^A-Za-z])(?:pass|Pass|PASS)\d{0,2}$|[a-z]Pass\d{0,2}$/
const KEY =
  /(?:secret|token|credentials?|auth|(?:api|access|account|private|shared|signing|encryption|master|storage|service|license|session|deploy|admin|webhook|client|function|host|secret)key|connectionstring|clientkeydata)\d{0,2}$/
/** Tokens that are only placeholders or names of requests. */
const HARMLESS_TOKEN =
  /(?:next|previous|page|paging|continuation|cursor|sync|change|request|idempotency|cancellation|purchase|publickey|eos|bos|pad|unk|special|stop|start|end)token$/

function secretIn(assignment: Assignment): Secret | undefined {
  const { name, value, from, form } = assignment
  const plain = plainOf(name)
  if (isStandIn(value) || isExpression(value) || plainOf(value) === plain) return undefined
  if (!/[\p{L}\p{N}]/u.test(value)) return undefined
  if (HARMLESS_TOKEN.test(plain)) return undefined

  const whole = (kind: string): Secret => ({ kind, from, to: from + value.length })
  if (PASSWORD.test(plain) || PASS.test(name)) {
    return isPassword(assignment) ? whole('password') : undefined
  }
  if (KEY.test(plain)) return isKey(assignment) ? whole('credential') : undefined
  // The name only contains a telling word, so the value must look machine-made and not like a name.
  if (form === 'flag' || form === 'bare') return undefined
  return /^[\w+/=.~-]+$/.test(value) && looksRandom(value) && !isIdentifier(value)
    ? whole('credential')
    : undefined
}

function plainOf(name: string): string {
  return name.toLowerCase().replace(/[_ -]/g, '')
}

function isPassword({ name, value, form }: Assignment): boolean {
  if (value.length < 3) return false
  // Sentences about passwords occur in quotes too; only a passphrase may have spaces.
  if (/\s/.test(value)) return /phrase|mnemonic/i.test(name)
  // In code a capitalised compound is a type: `password: SecretStr`.
  if (form === 'line') return !/^(?:[A-Z][a-z]+){2,}$/.test(value)
  if (form !== 'bare') return true
  // A passing test looks like a field with that name.
  if (/^pass$/i.test(name)) return /^[\w-]{22,}$/.test(value) && looksRandom(value)
  return /\d|[^\w]/.test(value) && !/^\d{1,5}$/.test(value) && !isWordy(value)
}

function isKey({ value, form }: Assignment): boolean {
  if (value.length < 8 || /\s/.test(value)) return false
  if (looksRandom(value)) return true
  if (form === 'bare' || form === 'line') return false
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !isWordy(value)
}

// Paths, calls, member chains, URLs, resource names.
const EXPRESSION =
  /^(?:\.{0,2}\/|~\/|[a-z_$][\w$]*(?:\??\.[a-z_$][\w$]*)*\([^()]{0,200}\)|[a-z_$][\w$]*(?:(?:\??\.|->|::)[a-z_$][\w$]*)+$|[a-z][a-z0-9+.-]*:\/\/|arn:)/i

/** Where a value comes from, not the value. One random password in 64 begins like a path. */
function isExpression(value: string): boolean {
  const isRandom = /^\/[^/.]{8,}$/.test(value) && !isWordy(value.slice(1))
  return !isRandom && EXPRESSION.test(value)
}

/** Hashes, UUIDs and times are names of things unless their own name says otherwise. */
function isIdentifier(value: string): boolean {
  return /^(?:[0-9a-f]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d.*)$/i.test(
    value,
  )
}
