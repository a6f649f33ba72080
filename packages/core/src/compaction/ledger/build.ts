import { LEDGER_KINDS, type LedgerEntry, type LedgerKind } from '../../message/handoff/handoff.ts'
import { writeLedger } from '../../message/handoff/ledger-text.ts'
import type { Message } from '../../message/message.ts'
import type { CountTokens } from '../counters.ts'
import type { NumberOf } from '../layout.ts'
import { gatherWords, type HeadText, readHead } from './gather.ts'
import { KnownWords } from './known-words.ts'
import { formOf, worthOf } from './rank.ts'
import { gatherReplacedWords, type ReplacedWord } from './replaced-words.ts'
import { gatherToolActions } from './tool-actions.ts'
import { eachValue } from './values.ts'

/**
 * The ledger: exact texts that an agent will need again after the messages that contained them are
 * gone. Two kinds of entries share the space. *Lines* record what happened (actions, errors,
 * commands); each kind of them has a share that it cannot exceed, newest first. *Words* (paths,
 * ids, names, flags) fill the rest, by value per character.
 *
 * Always true: it fits `tokensMax`, whatever was in the previous ledger; no entry occurs twice;
 * text that is visible elsewhere takes no space here.
 */
export interface LedgerRequest extends LedgerSource, LedgerSpace {}

export interface LedgerSource {
  /** The ledger of the earlier handoff; its entries compete with the new ones on equal terms. */
  readonly previous: readonly LedgerEntry[]
  /** The messages that are compacted away. */
  readonly head: readonly Message[]
  readonly numberOf: NumberOf
  readonly countTokens: CountTokens
  /**
   * The earlier handoff's summary, if it is replaced: facts that only it contained would be lost.
   */
  readonly earlierSummary?: string
}

export interface LedgerSpace {
  readonly tokensMax: number
  /** Texts that stay in the context anyway. */
  readonly visible?: readonly string[]
  /** The summary beside it, whose lines need not be repeated. */
  readonly summary?: string
}

/** In the order in which it is written; empty where nothing fits. */
export function buildLedger(request: LedgerRequest): readonly LedgerEntry[] {
  return ledgerBuilder(request)(request)
}

/** Reads the head once, however many sizes are tried. */
export function ledgerBuilder(
  source: LedgerSource,
): (space: LedgerSpace) => readonly LedgerEntry[] {
  const readings = readHead(source.head, source.numberOf)
  if (source.earlierSummary !== undefined) {
    const { earlierSummary: text, numberOf } = source
    readings.unshift({ text, source: 'kept', number: numberOf(0) - 1 })
  }
  const replaced = gatherReplacedWords(source.head, source.numberOf)
  const words = rankWords(source, readings, replaced)
  return (space) => {
    const lines = gatherLines(source, readings, replaced, space.summary ?? '')
    return chooseWithin({ ...source, ...space }, { lines, words })
  }
}

function chooseWithin(
  { tokensMax, countTokens, visible: texts = [] }: LedgerSpace & Pick<LedgerSource, 'countTokens'>,
  candidates: Candidates,
): readonly LedgerEntry[] {
  const visible = new KnownWords()
  for (const text of texts) visible.add(text)

  let charactersMax = tokensMax * CHARACTERS_PER_TOKEN_GUESS
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const entries = choose(candidates, visible, charactersMax)
    const text = writeLedger(entries)
    const tokens = countTokens(text)
    if (tokens <= tokensMax) return entries
    // Slightly less than the measured density allows, since the next choice has other words.
    charactersMax = Math.floor((Math.min(charactersMax, text.length) * tokensMax * 0.99) / tokens)
  }
  return []
}

const CHARACTERS_PER_TOKEN_GUESS = 4
/**
 * Each attempt shrinks the space by the overshoot; the second fits unless the counter is erratic.
 */
const ATTEMPTS_MAX = 20

interface Candidates {
  readonly lines: ReadonlyMap<LedgerKind, readonly LedgerEntry[]>
  readonly words: readonly LedgerEntry[]
}

/**
 * Shares of the space in characters; unused space goes to the words, and unused space of the words
 * to the lines. The digest has its own actions, which are not repeated here.
 */
const LINE_SHARES = { action: 0.08, error: 0.08, command: 0.12, value: 0.03 } as const
const LINE_KINDS = ['action', 'error', 'command', 'value'] as const

function isLineKind(kind: LedgerKind): boolean {
  return Object.hasOwn(LINE_SHARES, kind)
}

function gatherLines(
  request: LedgerSource,
  readings: readonly HeadText[],
  replaced: readonly ReplacedWord[],
  summary: string,
) {
  const found = new Map<string, LedgerEntry>()
  const add = (entry: LedgerEntry) => {
    if (summary.includes(entry.text)) return
    // A repeated action is listed once, with its latest number.
    const key = `${entry.kind} ${entry.text.replace(/^#\d+ /, '')}`
    const earlier = found.get(key)
    found.delete(key)
    found.set(key, earlier === undefined ? entry : { ...entry, count: earlier.count + entry.count })
  }
  for (const entry of request.previous) if (isLineKind(entry.kind)) add(entry)
  for (const { kind, text, number } of gatherToolActions(request.head, request.numberOf)) {
    add({ kind, text, number, count: 1 })
  }
  for (const { text, source, number } of readings) {
    if (source !== 'said' && source !== 'asked') continue
    eachValue(text, (value) => add({ kind: 'value', text: value, number, count: 1 }))
  }
  for (const { old, now, number } of replaced) {
    add({ kind: 'value', text: `${old} → ${now}`, number, count: 1 })
  }
  return Map.groupBy(found.values(), (entry) => entry.kind)
}

function rankWords(
  request: LedgerSource,
  readings: readonly HeadText[],
  replaced: readonly ReplacedWord[],
): LedgerEntry[] {
  const sightings = gatherWords(readings)
  for (const { kind, text, count, number } of request.previous) {
    if (isLineKind(kind)) continue
    const sighting = sightings.get(text)
    if (sighting === undefined) {
      const source = count > 0 ? 'argument' : 'kept'
      sightings.set(text, { word: text, arguments: count, source, number })
    } else {
      sighting.arguments += count
      if (count > 0) sighting.source = 'argument'
    }
  }
  // The edit is listed among the values; the old word alone would be read as the current one.
  for (const { old, number } of replaced) {
    if ((sightings.get(old)?.number ?? Number.POSITIVE_INFINITY) <= number) sightings.delete(old)
  }
  const end = request.numberOf(request.head.length - 1) + 1
  return [...sightings.values()]
    .flatMap((sighting) => {
      const form = formOf(sighting)
      if (form === undefined) return []
      const { word: text, number } = sighting
      const entry = { kind: form.kind, text, count: sighting.arguments, number }
      return [{ entry, worth: worthOf(sighting, form, end) }]
    })
    .sort((a, b) => b.worth - a.worth)
    .map(({ entry }) => entry)
}

function choose(candidates: Candidates, visible: KnownWords, charactersMax: number): LedgerEntry[] {
  const covered = new KnownWords()
  const chosen: LedgerEntry[] = []
  const opened = new Set<LedgerKind>()
  let space = charactersMax
  const costOf = ({ kind, text }: LedgerEntry) =>
    text.length + (isLineKind(kind) ? 2 : 1) + (opened.has(kind) ? 0 : kind.length + 2)
  const take = (entry: LedgerEntry) => {
    space -= costOf(entry)
    opened.add(entry.kind)
    chosen.push(entry)
    covered.add(entry.text)
  }
  const waiting: LedgerEntry[] = []
  for (const kind of LINE_KINDS) {
    let shareLeft = charactersMax * LINE_SHARES[kind]
    for (const entry of (candidates.lines.get(kind) ?? []).toReversed()) {
      shareLeft -= costOf(entry)
      if (shareLeft < 0) waiting.push(entry)
      else take(entry)
    }
  }
  for (const entry of candidates.words) {
    if (space < ROOM_MIN) break
    if (visible.has(entry.text) || covered.has(entry.text)) continue
    if (costOf(entry) <= space) take(entry)
  }
  for (const entry of waiting) if (costOf(entry) <= space) take(entry)
  return chosen.sort(
    (a, b) =>
      LEDGER_KINDS.indexOf(a.kind) - LEDGER_KINDS.indexOf(b.kind) ||
      (isLineKind(a.kind) ? a.number - b.number : 0),
  )
}

/** Nothing shorter is worth an entry. */
const ROOM_MIN = 6
