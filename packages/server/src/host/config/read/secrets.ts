import { looksRandom } from '#core/compaction/redact/randomness'
import { redact } from '#core/compaction/redact/redact'
import { findShapes } from '#core/compaction/redact/shapes'
import { KEYS_ELSEWHERE } from './overlay.ts'
import { type ConfigProblem, type Path, pathText } from './problem.ts'
import type { Node } from './tree.ts'

/**
 * Files are copied, committed and pasted; every user of the host can see command lines. So neither
 * may contain a key. The environment may, except as the name of a model: names are logged and stored.
 */
export function findLiteralSecrets(tree: Node, path: Path = []): readonly ConfigProblem[] {
  switch (tree.kind) {
    case 'list':
      return tree.items.flatMap((item, at) => findLiteralSecrets(item, [...path, at]))
    case 'map':
      return [...tree.fields].flatMap(([key, { node }]) => findLiteralSecrets(node, [...path, key]))
    case 'leaf': {
      const { value, origin } = tree
      if (typeof value !== 'string') return []
      if (origin.kind === 'environment' && path.at(-1) !== 'model') return []
      const why = whySecret(value, path)
      return why === undefined ? [] : [{ origin, text: `\`${pathText(path)}\` ${why}` }]
    }
    default:
      return tree satisfies never
  }
}

const SECRET_HEADER = /^(?:proxy-)?authorization$|cookie|key$|token|secret|password/i

function whySecret(value: string, path: Path): string | undefined {
  // The schema refuses a text in place of a source, with the same message.
  if (path.at(-1) === 'credential' || path.at(-1) === 'password') return undefined
  if (hasPassword(value)) {
    return path[0] === 'store'
      ? 'holds a password. Leave it out and name its source beside the address ' +
          '(`store: {url: …, password: {kind: variable, name: PGPASSWORD}}`), or give the whole ' +
          'address in the variable THROUGHLINE_STORE.'
      : `holds a password. ${KEYS_ELSEWHERE}`
  }
  if (path.at(-2) === 'headers' && SECRET_HEADER.test(String(path.at(-1)))) {
    return `looks like a key in a header. ${KEYS_ELSEWHERE}`
  }
  return findShapes(value).length > 0 ? `holds what looks like a key. ${KEYS_ELSEWHERE}` : undefined
}

function hasPassword(value: string): boolean {
  if (!/^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(value)) return false
  const url = URL.parse(value)
  // PostgreSQL's programs and its driver accept a password in either part.
  return url !== null && (url.password !== '' || url.searchParams.has('password'))
}

/**
 * A value for display, without keys and passwords in whatever place someone put them. `before` is the
 * item before it in a list: in `[--token, VALUE]` only that one shows what the value is.
 */
export function displayValue(value: unknown, path: Path, before?: unknown): unknown {
  if (typeof value !== 'string') return value
  if (path.at(-2) === 'headers' && SECRET_HEADER.test(String(path.at(-1)))) return '[secret]'
  const name = typeof path.at(-1) === 'string' ? `${path.at(-1)}: ` : flagText(before)
  const shown = withoutSecrets(name + withoutPassword(value))
  return shown.startsWith(name) ? shown.slice(name.length) : '[secret]'
}

function flagText(before: unknown): string {
  return typeof before === 'string' && before.startsWith('-') ? `${before} ` : ''
}

function withoutPassword(value: string): string {
  if (!hasPassword(value)) return value
  const url = new URL(value)
  if (url.password !== '') url.password = 'secret'
  if (url.searchParams.has('password')) url.searchParams.set('password', 'secret')
  return url.href.replace(':secret@', ':[secret]@').replace('password=secret', 'password=[secret]')
}

/** Not in paths: names of folders there are often hashes. */
const LONG_WORD = /(?<![A-Za-z0-9/])[A-Za-z0-9]{20,}(?![A-Za-z0-9/])/g

/**
 * Text for a person to read. A configuration has few places for long random words, so here a word is
 * masked that conversations may contain.
 */
export function withoutSecrets(text: string): string {
  return redact(text).replaceAll(LONG_WORD, (word) => (looksRandom(word) ? '[secret:word]' : word))
}
