import { clip, oneLine } from '../base/line.ts'
import type { Handoff } from '../message/handoff/handoff.ts'
import type { AssistantMessage, Message, UserMessage } from '../message/message.ts'
import { plainText } from '../message/text.ts'
import type { CountTokens } from './counters.ts'
import type { NumberOf } from './layout.ts'
import { bounded } from './ledger/gather.ts'
import { gatherToolActions } from './ledger/tool-actions.ts'
import { eachValue } from './ledger/values.ts'
import { ownWords } from './own-words/pieces.ts'
import { isAsk } from './plan/preserve.ts'
import { redact } from './redact/redact.ts'

/**
 * A handoff summary without a model: requests, answers, actions and reports in the conversation's
 * own words, under the headings that a model would use. It selects and shortens; it never
 * rephrases, so it cannot be wrong about the conversation, only incomplete.
 *
 * Each section fills its share of the budget with its newest lines and shows them in order. Lines
 * of the previous summary are older than all others and take at most a part of each share, so ten
 * digests in a row are no longer than one.
 */

/** The headings of a summary, whether a model wrote it or not. */
export const SECTIONS = [
  'Progress and decisions',
  'Requests and constraints',
  'What remains',
  'Critical data',
  'Tool results that matter',
] as const

type Section = (typeof SECTIONS)[number]

export interface DigestRequest {
  readonly previous?: Handoff
  readonly head: readonly Message[]
  readonly numberOf: NumberOf
  readonly tokensMax: number
  readonly countTokens: CountTokens
}

const SHARES: Readonly<Record<Section, number>> = {
  'Progress and decisions': 0.4,
  'Requests and constraints': 0.2,
  'What remains': 0.1,
  'Critical data': 0.1,
  'Tool results that matter': 0.2,
}

/** The part of a section's share for lines of the previous summary. */
const CARRIED_SHARE = 0.4

const CHARACTERS_PER_TOKEN_GUESS = 4
const ATTEMPTS_MAX = 20

/** At most `tokensMax` by the given counter; empty if nothing fits. */
export function writeDigest(request: DigestRequest): string {
  const { tokensMax, countTokens, previous } = request
  const fresh = gatherLines(request)
  const carried = readSections(previous?.summary ?? '')
  let charactersMax = tokensMax * CHARACTERS_PER_TOKEN_GUESS
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const text = write(fresh, carried, charactersMax)
    const tokens = countTokens(text)
    if (tokens <= tokensMax) return text
    charactersMax = Math.floor((Math.min(charactersMax, text.length) * tokensMax * 0.98) / tokens)
  }
  return ''
}

type Lines = Readonly<Record<Section, readonly string[]>>

function write(fresh: Lines, carried: Lines, charactersMax: number): string {
  const blocks = new Map<Section, string>()
  let spare = charactersMax
  // Progress comes last, because it takes what the others leave.
  for (const section of SECTIONS.toReversed()) {
    const heading = `## ${section}`
    const share = section === SECTIONS[0] ? spare : charactersMax * SHARES[section]
    const space = share - heading.length - 2
    const left = Math.max(space * CARRIED_SHARE, space - sizeOf(fresh[section]))
    const older = newest(carried[section], left)
    const lines = [...older, ...newest(fresh[section], space - sizeOf(older))]
    if (lines.length === 0) continue
    const block = [heading, ...lines.map((line) => `- ${line}`)].join('\n')
    spare -= block.length + 1
    blocks.set(section, block)
  }
  if (blocks.size === 0) return writeOneLine(fresh, carried, charactersMax)
  return SECTIONS.flatMap((section) => blocks.get(section) ?? []).join('\n')
}

/** If no line fits whole, the newest is cut: a handoff without a summary would be refused. */
function writeOneLine(fresh: Lines, carried: Lines, charactersMax: number): string {
  const newestLines = SECTIONS.map((section) => fresh[section].at(-1) ?? carried[section].at(-1))
  const line = newestLines.find((found) => found !== undefined) ?? 'Nothing was said in words.'
  const heading = `## ${SECTIONS[0]}`
  const space = Math.max(1, charactersMax - heading.length - MARKUP_CHARACTERS)
  return `${heading}\n- ${clip(line, space)}`
}

/** The last lines that fit, in order. */
function newest(lines: readonly string[], charactersMax: number): string[] {
  let space = charactersMax
  const from = lines.findLastIndex((line) => {
    space -= line.length + MARKUP_CHARACTERS
    return space < 0
  })
  return lines.slice(from + 1)
}

/** The dash, the blank and the line break. */
const MARKUP_CHARACTERS = 3

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + MARKUP_CHARACTERS, 0)
}

const ASK_CHARACTERS_MAX = 300
const REPLY_CHARACTERS_MAX = 400
const REMARK_CHARACTERS_MIN = 200
const READ_CHARACTERS_MAX = 4000

function gatherLines({ head, numberOf, previous }: DigestRequest): Lines {
  const progress: { number: number; line: string }[] = []
  const askLine = (number: number, text: string) =>
    clip(`#${number} ${oneLine(ownWords(text) || text)}`, ASK_CHARACTERS_MAX)
  // The previous digest left out what its handoff quoted.
  const asks = (previous?.preserved ?? []).map(({ number, message }) =>
    askLine(number, cleanText(message)),
  )
  const values = new Set<string>()
  let state: string | undefined
  for (const [index, message] of head.entries()) {
    if (message.role !== 'user' && message.role !== 'assistant') continue
    const number = numberOf(index)
    const text = cleanText(message)
    if (text.trim() === '') continue
    if (isAsk(message)) {
      asks.push(askLine(number, text))
    } else if (message.role === 'assistant') {
      const next = head[index + 1]
      const ends = next === undefined || next.role === 'user'
      if (ends || text.length >= REMARK_CHARACTERS_MIN) {
        const line = `#${number} ${shorten(oneLine(text), ends ? REPLY_CHARACTERS_MAX : REMARK_CHARACTERS_MIN)}`
        progress.push({ number, line })
      }
      state = clip(`#${number} ${oneLine(text)}`, ASK_CHARACTERS_MAX)
    } else continue
    eachValue(text, (value) => {
      values.delete(value)
      values.add(value)
    })
  }
  const actions = new Map<string, { number: number; line: string }>()
  const results: string[] = []
  for (const { kind, text, number, said } of gatherToolActions(head, numberOf)) {
    // A repeated action, such as another edit of one file, is listed once, at its last occurrence.
    if (kind === 'action') actions.set(text.replace(/^#\d+ /, ''), { number, line: text })
    else results.push(`#${number} ${text}${said === undefined ? '' : ` → ${said}`}`)
  }
  progress.push(...actions.values())
  progress.sort((a, b) => a.number - b.number)
  return {
    'Progress and decisions': progress.map(({ line }) => line),
    'Requests and constraints': asks.slice(0, -1),
    // The preserved message says whether the last request is answered; the head cannot know.
    'What remains': [
      ...asks.slice(-1).map((ask) => `Last asked: ${ask}`),
      ...(state === undefined ? [] : [`Last said: ${state}`]),
    ],
    'Critical data': joinValues([...values]),
    'Tool results that matter': results,
  }
}

function cleanText({ parts }: UserMessage | AssistantMessage): string {
  return redact(bounded(plainText(parts), READ_CHARACTERS_MAX))
}

/** Without requests that the handoff quotes; unchanged if nothing else would be left. */
export function withoutQuoted(digest: string, quoted: ReadonlySet<number>): string {
  const lines = digest
    .split('\n')
    .filter((line) => !quoted.has(Number(/^- #(\d+) /.exec(line)?.[1])))
  const left = lines.filter((line, at) => line.startsWith('- ') || lines[at + 1]?.startsWith('- '))
  return left.length === 0 ? digest : left.join('\n')
}

/** Several short values to a line, the newest last. */
function joinValues(values: readonly string[]): string[] {
  const lines: string[] = []
  for (let from = 0; from < values.length; from += VALUES_PER_LINE) {
    lines.push(values.slice(from, from + VALUES_PER_LINE).join('; '))
  }
  return lines
}

const VALUES_PER_LINE = 6

/** Beginning and end: replies open with the result and close with what is next. */
function shorten(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const end = Math.floor(charactersMax / 3)
  return `${clip(text, charactersMax - end)} ${text.slice(-end).toWellFormed()}`
}

/** Unknown headings and loose text count as progress, so no part of a summary is lost. */
function readSections(summary: string): Lines {
  const lines: Record<Section, string[]> = {
    'Progress and decisions': [],
    'Requests and constraints': [],
    'What remains': [],
    'Critical data': [],
    'Tool results that matter': [],
  }
  let section: Section = SECTIONS[0]
  for (const raw of summary.split('\n')) {
    const line = clip(oneLine(raw.replace(/^\s*[-*] /, '')), REPLY_CHARACTERS_MAX + 20)
    if (line.startsWith('#') && /^#{1,4} /.test(line)) {
      const title = line.replace(/^#+ /, '')
      section = SECTIONS.find((name) => name === title) ?? SECTIONS[0]
    } else if (line !== '') lines[section].push(line)
  }
  // Later messages show what remained then.
  return { ...lines, 'What remains': [] }
}
