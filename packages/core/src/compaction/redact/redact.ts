import type { TextPart } from '../../message/message.ts'
import { findAssignments } from './assignments.ts'
import { withoutInvisible } from './invisible.ts'
import { findByPosition } from './positions.ts'
import { findInProse } from './prose.ts'
import { MARK, type Secret } from './secret.ts'
import { findShapes } from './shapes.ts'

/**
 * Secrets masked at every text boundary, always on. What is left keeps its shape: the name of a
 * field, the host of a URL and the scheme of a header stay, the value becomes `[secret:kind]`.
 *
 * Always true: masking twice changes nothing; the time is linear in the text, whatever it holds.
 * Not promised: a secret of no known shape, without a telling name, cannot be told from any other
 * identifier and passes.
 */
export function redact(text: string): string {
  let clean = text
  // A mark can complete another shape (a word before it now ends where a value may begin), so the
  // text is looked at again, only if it held a secret at all.
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
  const found = [...find(text), ...findAsItReads(text)].sort(
    (a, b) => a.from - b.from || b.to - a.to,
  )
  const secrets: Secret[] = []
  for (const secret of found) {
    const last = secrets.at(-1)
    if (last === undefined || secret.from >= last.to) secrets.push(secret)
    else if (secret.to > last.to) secrets[secrets.length - 1] = { ...last, to: secret.to }
  }
  return secrets
}

/** Web pages and word processors have spaces of other widths. One character each: places stay. */
const OTHER_SPACES = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g

function find(text: string): readonly Secret[] {
  const plain = text.replaceAll(OTHER_SPACES, ' ')
  return [findShapes, findAssignments, findByPosition, findInProse]
    .flatMap((each) => each(plain))
    .filter((secret) => !isInMark(text, secret.from))
}

function findAsItReads(text: string): readonly Secret[] {
  const visible = withoutInvisible(text)
  if (visible === undefined) return []
  return find(visible.text).map(({ kind, from, to }) => ({
    kind,
    from: visible.at(from),
    to: visible.at(to - 1) + 1,
  }))
}

const WHOLE_MARK = /^\[secret:[a-z-]{2,20}\]/

/** A whole mark only: words that merely begin like one must not shelter what follows them. */
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
