import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { parsePythonJson } from '#core/message/formats/hermes/python-json'
import type { AdoptedEntry } from '#core/store/adoption'

/**
 * Calls, results and images, counted in the columns and again in the entries made from them. A call
 * that became text counts as an imported row but as a lost call.
 */
export interface Kinds {
  readonly calls: number
  readonly results: number
  readonly pictures: number
}

/** For the rows that this run imported. */
export interface KindCount {
  readonly given: Kinds
  readonly made: Kinds
}

export const KINDS = ['calls', 'results', 'pictures'] as const

export const NO_KINDS: Kinds = { calls: 0, results: 0, pictures: 0 }

export function addKinds(counts: readonly Kinds[]): Kinds {
  const sum = (key: keyof Kinds) => counts.reduce((total, one) => total + one[key], 0)
  return { calls: sum('calls'), results: sum('results'), pictures: sum('pictures') }
}

const LIST_MARK = '\0json:'
const SPEAKERS = new Set(['user', 'assistant', 'tool'])
const PICTURES = new Set(['image_url', 'input_image', 'image'])

/** Counted in the columns. */
export function kindsOfRow({ role, content, tool_calls: calls }: JsonObject): Kinds {
  const list = typeof content === 'string' && content.startsWith(LIST_MARK) ? content : ''
  const isSaid = isText(role) && SPEAKERS.has(role)
  const parts = isSaid ? objectsIn(parsePythonJson(list.slice(LIST_MARK.length))) : []
  const made =
    role === 'assistant' && typeof calls === 'string' ? objectsIn(parsePythonJson(calls)) : []
  return {
    calls: made.filter(({ function: own, custom }) => isNamed(own) || isNamed(custom)).length,
    results: role === 'tool' || role === 'function' ? 1 : 0,
    pictures: parts.filter(isPicture).length,
  }
}

function isNamed(call: JsonValue | undefined): boolean {
  return isObject(call) && isText(call['name'])
}

function isPicture({ type, image_url: url, source }: JsonObject): boolean {
  if (!isText(type) || !PICTURES.has(type)) return false
  return type === 'image' ? isObject(source) : isText(isObject(url) ? url['url'] : url)
}

/** Counted in the entry. */
export function kindsOfEntry({ kind, body, row }: AdoptedEntry): Kinds {
  const pieces = piecesOf(body, row)
  const own = pieces.flatMap(({ type, output }) =>
    type === 'tool-result' ? objectsIn(output) : [],
  )
  const isCount = (type: string) => (piece: JsonObject) => piece['type'] === type
  return {
    calls: pieces.filter(isCount('tool-call')).length,
    results: kind === 'result' ? 1 : pieces.filter(isCount('tool-result')).length,
    pictures: [...pieces, ...own].filter(isCount('image')).length,
  }
}

/** The parts of a message, of a result, or of the row that a handoff keeps. */
function piecesOf(body: JsonValue, row: number | null): readonly JsonObject[] {
  if (!isObject(body)) return objectsIn(body)
  const { message, aside, preserved, parts } = body
  if (isArray(preserved)) {
    const kept = objectsIn(preserved).flatMap((one) =>
      isObject(one['message']) ? [one['message']] : [],
    )
    return kept.flatMap((one) => {
      const { origin } = one
      return isObject(origin) && origin['at'] === row ? piecesOf(one, row) : []
    })
  }
  const inner = message ?? aside
  return inner === undefined ? objectsIn(parts) : piecesOf(inner, row)
}

/** Calls, results and images that became something else. */
export function changedKinds({ given, made }: KindCount): number {
  return KINDS.reduce((sum, key) => sum + Math.abs(given[key] - made[key]), 0)
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return isArray(value) ? value.filter(isObject) : []
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string'
}
