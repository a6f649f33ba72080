import type { LedgerKind } from '../../message/handoff/handoff.ts'
import type { Sighting } from './gather.ts'

/**
 * How likely a word is to be needed again, per character that it costs. The weights are the odds
 * ratios of a logistic regression over the words of real coding sessions, cut at many places: does
 * a later tool call use this word? They are rounded, since only the order decides.
 *
 * A word that the assistant never wrote into an argument counts only if it looks like a given name:
 * prose is full of hyphens and slashes that will never be typed again.
 */
interface Form {
  readonly kind: LedgerKind
  readonly weight: number
}

const FORMS = {
  url: { kind: 'url', weight: 1 },
  flag: { kind: 'flag', weight: 3 },
  address: { kind: 'name', weight: 8 },
  file: { kind: 'path', weight: 6 },
  folder: { kind: 'path', weight: 1.5 },
  relative: { kind: 'path', weight: 0.8 },
  baseName: { kind: 'path', weight: 0.9 },
  hash: { kind: 'id', weight: 1.2 },
  digits: { kind: 'id', weight: 0.6 },
  date: { kind: 'id', weight: 0.6 },
  mixed: { kind: 'id', weight: 0.2 },
  joined: { kind: 'name', weight: 1.6 },
  dotted: { kind: 'name', weight: 0.3 },
  other: { kind: 'name', weight: 0.6 },
  /** Probably prose; only for ledgers with space to spare. */
  weak: { kind: 'name', weight: 0.1 },
} as const satisfies Record<string, Form>

const SOURCE_WEIGHTS = {
  argument: 5,
  kept: 0.7,
  body: 1.5,
  said: 0.7,
  asked: 0.7,
  result: 0.2,
} as const

/** The form of a word, or nothing if it is not worth keeping. */
export function formOf({ word, source }: Sighting): Form | undefined {
  const typed = source === 'argument'
  if (!typed && /[\\*]|^\/\//.test(word)) return undefined
  if (word.startsWith('-')) {
    const isFlag = /^--[a-z][\w-]+$/.test(word) || (typed && /^-[a-z]+$/.test(word))
    return isFlag ? FORMS.flag : undefined
  }
  if (/^[a-z][a-z+.-]*:\/\/\w/i.test(word)) return FORMS.url
  if (/\w@\w/.test(word)) return FORMS.address
  if (word.includes('/')) return pathFormOf(word, typed || source === 'body')
  if (/^[0-9a-f-]{7,}$/.test(word) && /\d/.test(word) && /[a-f]/.test(word)) return FORMS.hash
  if (/^#?\d{5,}$/.test(word)) return typed || word.length >= 8 ? FORMS.digits : undefined
  if (/^\d{4}-\d\d-\d\d/.test(word)) return FORMS.date
  if (/^[\d.,:%+_#-]+[A-Za-z%]{0,3}$/.test(word)) return undefined
  if (/^[\w*-]+\.[a-z]\w{0,4}$/.test(word)) return FORMS.baseName
  if (/^[A-Za-z0-9]+$/.test(word)) return /\d/.test(word) ? FORMS.mixed : undefined
  if (/^[\w-]+$/.test(word)) return typed || /[\d_]/.test(word) ? FORMS.joined : FORMS.weak
  if (/^[\w.]+$/.test(word)) return source === 'result' ? FORMS.weak : FORMS.dotted
  return typed ? FORMS.other : FORMS.weak
}

function pathFormOf(word: string, typed: boolean): Form {
  const hasEnding = /\.[A-Za-z]\w{0,9}$/.test(word)
  const isDeep = word.includes('/', word.indexOf('/') + 1)
  if (!typed && !hasEnding && !isDeep) return FORMS.weak
  if (/^(?:\/|~\/)/.test(word)) return hasEnding ? FORMS.file : FORMS.folder
  return FORMS.relative
}

/** Per character; `end` is the number after the last message. */
export function worthOf(sighting: Sighting, form: Form, end: number): number {
  const chance =
    form.weight *
    SOURCE_WEIGHTS[sighting.source] *
    (1 + sighting.arguments) ** 0.8 *
    Math.max(1, end - sighting.number) ** -0.4
  return chance / (sighting.word.length + 1)
}
