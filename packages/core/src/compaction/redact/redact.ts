import { isAscii } from '../../base/bytes.ts'
import type { TextPart } from '../../message/message.ts'
import { asItReads } from './as-it-reads.ts'
import { findAssignments } from './assignments.ts'
import { findByPosition } from './positions.ts'
import { findPrivateKeys } from './private-keys.ts'
import { findInProse } from './prose.ts'
import { MARK, type Secret } from './secret.ts'
import { findShapes } from './shapes.ts'

/**
 * Masks secrets at every text boundary, always on. The rest keeps its shape: the name of a field,
 * the host of a URL and the scheme of a header stay, the value becomes `[secret:kind]`.
 *
 * Always true: masking twice changes nothing; the time is linear in the text. Not promised: a
 * secret without a known shape or a telling name looks like any other identifier and is not masked.
 */
export function redact(text: string): string {
  let clean = text
  // A mark can complete another shape (a word before it now ends where a value may begin), so the
  // text is scanned again if it contained a secret.
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const secrets = findSecrets(clean)
    if (secrets.length === 0) return clean
    clean = mask(clean, secrets)
  }
  return clean
}

const masked = new WeakMap<TextPart, string>()

/** The ledger and the prompt of a summary read the same parts: each is masked once. */
export function redactPart(part: TextPart): string {
  const known = masked.get(part)
  if (known !== undefined) return known
  const text = redact(part.text)
  masked.set(part, text)
  return text
}

const ROUNDS_MAX = 4
const MARK_CHARACTERS_MAX = 30

/** Where the secrets are: in order, without overlaps, none inside a mark. */
export function findSecrets(text: string): readonly Secret[] {
  const plain = isAscii(text)
  const mayHide = !plain || MAY_HIDE.test(text)
  const found = [...find(text, plain), ...(mayHide ? findAsItReads(text) : [])]
  found.sort((a, b) => a.from - b.from || b.to - a.to)
  const secrets: Secret[] = []
  for (const secret of found) {
    const last = secrets.at(-1)
    if (last === undefined || secret.from >= last.to) secrets.push(secret)
    else if (secret.to > last.to) secrets[secrets.length - 1] = { ...last, to: secret.to }
  }
  return secrets
}

/** How ASCII text hides a key. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const MAY_HIDE = /\x1b|\\(?:u|x1b|e|033)|%[2-7]/i

/**
 * Web pages and word processors use spaces, letters and digits of other widths. Each is one character, so
 * offsets stay.
 */
const FULL_WIDTH = /[\uff0d\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a]/g
const OTHER_SPACES = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g

function find(text: string, isPlain: boolean): readonly Secret[] {
  const spaced = isPlain ? text : narrow(text.replaceAll(OTHER_SPACES, ' '))
  return [findShapes, findPrivateKeys, findAssignments, findByPosition, findInProse]
    .flatMap((each) => each(spaced))
    .filter((secret) => !isInMark(text, secret.from))
}

function narrow(text: string): string {
  return text.replaceAll(FULL_WIDTH, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
}

function findAsItReads(text: string): readonly Secret[] {
  const read = asItReads(text)
  if (read === undefined) return []
  return find(read.text, false).map(({ kind, from, to }) => {
    const last = read.at(to - 1)
    // A character behind a percent sign takes three.
    const width = text.charAt(last) === read.text.charAt(to - 1) ? 1 : 3
    return { kind, from: read.at(from), to: last + width }
  })
}

const WHOLE_MARK = /^\[secret:[a-z-]{2,20}\]/

/** Only a whole mark: text that merely begins like one must not protect what follows it. */
function isInMark(text: string, at: number): boolean {
  const from = Math.max(0, at - MARK_CHARACTERS_MAX)
  const near = text.slice(from, at + MARK_CHARACTERS_MAX)
  const begin = near.lastIndexOf('[', at - from)
  const mark = begin === -1 ? null : WHOLE_MARK.exec(near.slice(begin))
  return mark !== null && from + begin + mark[0].length > at
}

function mask(text: string, secrets: readonly Secret[]): string {
  let clean = ''
  let done = 0
  for (const secret of secrets) {
    clean += `${text.slice(done, secret.from)}${MARK}${secret.kind}]`
    done = secret.to
  }
  return clean + text.slice(done)
}

export type { Secret }
