import { isStandIn, isWordy, looksRandom } from './randomness.ts'
import type { Secret } from './secret.ts'

/**
 * Secrets known by the name they are given: `PASSWORD=…`, `"api_key": "…"`, `token: …`,
 * `--password …`, `<password>…</password>`.
 *
 * Code talks about passwords far more often than it holds one, so the name alone decides nothing:
 * the value must be a literal, and the weaker the name the more machine-made it must look.
 * Linear: around every name a bounded number of characters is read.
 */
const NAMES =
  /pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|mnemonic|auth(?!or)|(?:api|access|account|private|shared|signing|encryption|master|storage|service|license|session|deploy|admin|webhook|client|function|host)[ _-]?key|connection[_-]?string/gi

const NAME_CHARACTERS_MAX = 48
const VALUE_CHARACTERS_MAX = 4_096

/** How the value was written decides how much of a proof it must give. */
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
    const assignment = assignmentAt(text, hit.index, NAMES.lastIndex)
    if (assignment === undefined) continue
    const secret = secretIn(assignment)
    if (secret === undefined) continue
    secrets.push(secret)
    NAMES.lastIndex = secret.to
  }
  return secrets
}

// The rest of the name, the quote or bracket that closes it, a type, and the sign between name and
// value. A space alone separates a flag from its value, `PASSWORD 'x'` in SQL, and netrc's fields.
const SEPARATOR =
  /([\w-]{0,24})(?:\\{0,3}["'`]\]?)?(?:(?:: ?[A-Za-z]{2,16})? {0,8}(:=|=>|=|:)(?![=:])[ \t]{0,8}| {1,8}(?=[^\s])|(>))/y

function assignmentAt(text: string, at: number, end: number): Assignment | undefined {
  SEPARATOR.lastIndex = end
  const match = SEPARATOR.exec(text)
  if (match === null) return undefined
  const begin = startOfName(text, at)
  const name = text.slice(begin, end) + (match[1] ?? '')
  const separator = match[2] ?? match[3] ?? ' '
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
  const value = bareValue(text, from)
  if (value === undefined) return undefined
  const isTight = separator === '=' && text.charAt(from - 1) === '='
  return {
    name,
    value,
    from,
    form: formOfBare(text, { begin, end: from + value.length, name, isTight }),
  }
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

function openingQuote(text: string, at: number): string {
  let to = at
  // A prefix of Python's (f'', b'') is left to the stand-ins: its value is mostly a template.
  while (to < at + 4 && text.charAt(to) === '\\') to++
  const character = text.charAt(to)
  return character === '"' || character === "'" || character === '`' ? text.slice(at, to + 1) : ''
}

/** Up to the quote that was opened, in the same line. */
function quotedValue(text: string, from: number, opened: string): string | undefined {
  const rest = text.slice(from, from + VALUE_CHARACTERS_MAX)
  const line = rest.search(/[\r\n]/)
  const end = closingQuote(rest, opened)
  if (end === -1 || (line !== -1 && line < end)) return undefined
  return end === 0 ? undefined : rest.slice(0, end)
}

function closingQuote(rest: string, opened: string): number {
  if (opened.length > 1) return rest.indexOf(opened)
  for (let index = 0; index < rest.length; index++) {
    if (rest[index] === '\\') index++
    else if (rest[index] === opened || rest[index] === '\n')
      return rest[index] === opened ? index : -1
  }
  return -1
}

const BARE = /[^\s"'`,;|&<>(){}[\]\\]{1,4096}/y

/** A literal without quotes; what is called, indexed or a template is an expression. */
function bareValue(text: string, from: number): string | undefined {
  BARE.lastIndex = from
  const value = BARE.exec(text)?.[0]
  const next = text.charAt(BARE.lastIndex)
  if (value === undefined || next === '(' || next === '[' || next === '{') return undefined
  return value.replace(/[.:!?]+$/, '')
}

function formOfBare(
  text: string,
  place: { begin: number; end: number; name: string; isTight: boolean },
): Assignment['form'] {
  const { begin, end, name, isTight } = place
  if (name.startsWith('--')) return 'flag'
  if (isTight && /^[A-Z][A-Z0-9_]+$/.test(name)) return 'environment'
  const after = text.charAt(end)
  const before = text.slice(Math.max(0, begin - 12), begin)
  const isWholeLine =
    (after === '' || after === '\n' || after === '\r') && /(?:^|\n)[ \t-]{0,12}$/.test(before)
  const isQueryField = isTight && /[?&;]$/.test(before)
  return isWholeLine || isQueryField ? 'line' : 'bare'
}

const PASSWORD = /(?:password|passwd|passphrase|passcode|pwd|pass|mnemonic)\d{0,2}$/
const KEY =
  /(?:secret|token|credentials?|auth|(?:api|access|account|private|shared|signing|encryption|master|storage|service|license|session|deploy|admin|webhook|client|function|host|secret)key|connectionstring|clientkeydata)\d{0,2}$/

function secretIn(assignment: Assignment): Secret | undefined {
  const { name, value, from, form } = assignment
  const plain = name.toLowerCase().replace(/[_ -]/g, '')
  if (isStandIn(value)) return undefined

  const whole = (kind: string): Secret => ({ kind, from, to: from + value.length })
  if (PASSWORD.test(plain)) return isPassword(assignment) ? whole('password') : undefined
  if (KEY.test(plain)) return isKey(assignment) ? whole('credential') : undefined
  return form !== 'flag' && looksRandom(value) && !isIdentifier(value)
    ? whole('credential')
    : undefined
}

function isPassword({ name, value, form }: Assignment): boolean {
  if (value.length < 3 || isExpression(value)) return false
  // Sentences about passwords stand in quotes too; only a phrase is meant to have spaces.
  if (/\s/.test(value)) return /phrase|mnemonic/i.test(name)
  if (form !== 'bare') return true
  // A test that passed says so in the same words as a field.
  if (/^pass$/i.test(name)) return false
  return /\d|[^\w]/.test(value) && !/^\d{1,5}$/.test(value) && !isWordy(value)
}

function isKey({ value, form }: Assignment): boolean {
  if (value.length < 8 || /\s/.test(value) || isExpression(value)) return false
  if (looksRandom(value)) return true
  if (form === 'bare' || form === 'line') return false
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !isWordy(value)
}

/** Paths, member chains, calls, URLs: where a value comes from, not the value. */
function isExpression(value: string): boolean {
  return /^(?:\.{0,2}\/|~\/|[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*\(|[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$|[a-z][a-z0-9+.-]*:\/\/)/i.test(
    value,
  )
}

/** Hashes and UUIDs are names of things unless their own name says otherwise. */
function isIdentifier(value: string): boolean {
  return /^(?:[0-9a-f]{7,64}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i.test(
    value,
  )
}
