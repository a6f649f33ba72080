import { isObject, type JsonValue } from '../../base/json.ts'
import { DamagedRowError } from '../errors.ts'
import type { Search as Query, SearchHit } from '../queries.ts'
import type { Entry } from '../tables/rows.ts'
import { entrySpeakerOf } from './blocks.ts'
import { lookUp, type SearchSteps } from './lookup.ts'
import type { PassageTable } from './passage-table.ts'
import { searchedText } from './words.ts'

export function isFilteredByEntry({ since, until, speaker }: Query): boolean {
  return [since, until, speaker].some((each) => each !== undefined)
}

/** The facts that the index has about an entry: its time and speaker. */
export function entryFilter(
  query: Query,
  table: PassageTable,
  /** For each session, the last entry that may be found; null: any. */
  lasts: readonly number[] | null = null,
): ((entry: number) => boolean) | null {
  if (!isFilteredByEntry(query) && lasts === null) return null
  const { since, until, speaker } = query
  const isWithin = (entry: number) => {
    const { session, number } = table.identify(entry)
    return number <= (lasts?.[session] ?? number)
  }
  return (entry) =>
    (lasts === null || isWithin(entry)) &&
    (since === undefined || table.timeOf(entry) >= since) &&
    (until === undefined || table.timeOf(entry) < until) &&
    (speaker === undefined || table.entrySpeakerOf(entry) === speaker)
}

const PHRASE = /(?<=^|\s)"([^"]+)"(?=\s|$)/g
const TYPED_CHARACTERS_MAX = 200

/** Longer texts were pasted: most of the phrases and names in them are not part of the question. */
export function isTyped(text: string): boolean {
  return text.length <= TYPED_CHARACTERS_MAX && !text.includes('\n')
}

/** Text that must occur in an entry, punctuation included; case does not matter. */
export function phrasesIn({ text, exact }: Pick<Query, 'text' | 'exact'>): readonly string[] {
  if (exact === true) return [text.trim()]
  if (!isTyped(text)) return []
  return [...text.matchAll(PHRASE)]
    .map(([, phrase = '']) => phrase.trim())
    .filter((phrase) => /[\p{L}\p{N}]/u.test(phrase))
}

export type Verify = (hit: SearchHit, session: number) => SearchSteps<boolean>

/** Conditions that need an entry's text; null: none. */
export function verifier({ tool, path }: Query, phrases: readonly string[]): Verify | null {
  const wanted = [...phrases, ...(path === undefined ? [] : [path])].map(comparable)
  if (wanted.length === 0 && tool === undefined) return null
  return function* verify({ entry }, session) {
    const text = comparable(searchedText(entry))
    if (!wanted.every((phrase) => text.includes(phrase))) return false
    return tool === undefined || (yield* isOfTool(entry, tool, session))
  }
}

/** All conditions of a query, checked with the stored entry alone. */
export function storedFilter({ since, until, speaker }: Query, verify: Verify | null): Verify {
  return function* accepts(hit, session) {
    const { entry } = hit
    if (since !== undefined && entry.at < since) return false
    if (until !== undefined && entry.at >= until) return false
    if (speaker !== undefined && entrySpeakerOf(entry) !== speaker) return false
    return verify === null || (yield* verify(hit, session))
  }
}

function comparable(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ')
}

/** How far back to look for the call of a result: results directly follow their calls. */
const CALL_DISTANCE = 40

function* isOfTool(entry: Entry, tool: string, session: number): SearchSteps<boolean> {
  if (entry.kind === 'assistant') return callsOf(entry).some(({ name }) => name === tool)
  if (entry.kind !== 'result') return false
  const { call } = entry.meta
  const to = entry.number - 1
  if (to < 1) return false
  const from = Math.max(1, to - CALL_DISTANCE + 1)
  const [earlier = []] = yield* lookUp({ want: 'entries', ranges: [{ session, from, to }] })
  if (earlier instanceof DamagedRowError) throw earlier
  const made = earlier.findLast((each) => callsOf(each).some(({ id }) => id === call))
  return made !== undefined && callsOf(made).some(({ id, name }) => id === call && name === tool)
}

function callsOf({ kind, body }: Entry): readonly { id: unknown; name: unknown }[] {
  if (kind !== 'assistant' || body === null) return []
  const message = JSON.parse(body) as JsonValue
  if (!isObject(message) || !Array.isArray(message['parts'])) return []
  return message['parts'].flatMap((part) =>
    isObject(part) && part['type'] === 'tool-call' ? [{ id: part['id'], name: part['name'] }] : [],
  )
}
