import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import { findAllNames } from './names.ts'
import { readQuotations } from './quotation.ts'
import { type Record, recordsOf, sentencesOf } from './records.ts'

/**
 * Handoffs without a model: extracts of the quoted texts, under the requested headings. The same
 * request gives the same text. Points of earlier handoffs are carried over, so that pieces can be
 * merged and a summary updated.
 */
const HEADINGS = [
  'Progress and decisions',
  'Requests and constraints',
  'What remains',
  'Critical data',
  'Tool results that matter',
]

export const SUMMARY_NOTE = 'Written by the stand-in model: extracts, not understanding.'

const ASKS = [
  /^===== [a-z0-9 ]{1,60} [0-9a-f]{12} =====$/m,
  /\b(?:write|create|give me|produce) (?:a|the|your) (?:[a-z]{1,20} )?(?:handoff|summary of (?:the|this|our))\b/i,
  /\bsummari[sz]e (?:the|this|our) conversation\b/i,
]

export function asksForSummary(prompt: string): boolean {
  return ASKS.some((ask) => ask.test(prompt))
}

/** A long text is represented by its first words, so that the whole range fits. */
const LINE_CHARACTERS_MAX = 240
const NAMES_MAX = 80

/** A summary is at most an eighth of its source; a text of the same length is not one. */
const SHARE = 1 / 8
const CHARACTERS_MIN = 600
const CHARACTERS_MAX = 8_000

/**
 * The summary that the last message requests: of its quotations or, if it has none, of the whole
 * conversation.
 */
export function summarizeAsStandIn(messages: readonly Message[], tokensMax = 1_500): string {
  const last = messages.at(-1)
  const prompt = last === undefined ? '' : textOf(last)
  const { instructions, handoffs, records } = readQuotations(prompt)
  const isQuoted = records.length + handoffs.length > 0
  const read = isQuoted ? records : recordsOf(messages.slice(0, -1))
  return writeSummary({ records: read, handoffs, instructions, tokensMax })
}

/** The summary of a whole conversation, for the compact endpoint. */
export function summarizeAll(messages: readonly Message[]): string {
  const records = recordsOf(messages)
  return writeSummary({ records, handoffs: [], instructions: '', tokensMax: 1_500 })
}

interface SummaryRequest {
  readonly records: readonly Record[]
  readonly handoffs: readonly string[]
  readonly instructions: string
  readonly tokensMax: number
}

function writeSummary({ records, handoffs, instructions, tokensMax }: SummaryRequest): string {
  const earlier = readSections(handoffs)
  const headings = instructions
    .split('\n')
    .filter((line) => line.startsWith('## '))
    .map((line) => line.slice(3).trim())
  const words = /at most about (\d{1,7}) words/i.exec(instructions)?.[1]
  const read = [...records.map(({ text }) => text), ...handoffs].join('\n').length
  const charactersMax = Math.min(
    Math.max(read * SHARE, CHARACTERS_MIN),
    tokensMax * 3,
    Number(words ?? CHARACTERS_MAX) * 5,
    CHARACTERS_MAX,
  )
  // A single one is an example in the request of Claude Code.
  const names = headings.length < 2 ? HEADINGS : headings
  const sections = names.map((heading) => {
    const extracts = extract(heading, records)
    // An earlier "what remains" is obsolete if messages followed.
    const isOver = REMAINS.test(heading) && extracts.length > 0
    const lines = isOver ? extracts : [...(earlier.get(heading) ?? []), ...extracts]
    return `## ${heading}\n${newest(lines, charactersMax / names.length) || '- Nothing noted.'}`
  })
  return [SUMMARY_NOTE, ...sections].join('\n')
}

const REMAINS = /remain|next|open|pending/i

/** The extracts that belong under a heading, by its words. */
function extract(heading: string, records: readonly Record[]): readonly string[] {
  if (/tool/i.test(heading)) return saidBy(records, 'tool').map(firstLine)
  if (/critical|data|identifier|exact/i.test(heading)) {
    return findAllNames(records.map(({ text }) => text).join('\n')).slice(-NAMES_MAX)
  }
  if (REMAINS.test(heading)) {
    const last = records.findLast(({ who }) => who === 'user')
    return last === undefined ? [] : [`The user said last: ${firstLine(last.text)}`]
  }
  if (/constraint|preference|user/i.test(heading)) {
    // Text to be kept goes last, where `newest` looks first.
    const sentences = saidBy(records, 'user').flatMap(sentencesOf)
    return sentences.toSorted((a, b) => Number(isDirective(a)) - Number(isDirective(b)))
  }
  return [...saidBy(records, 'handoff'), ...saidBy(records, 'assistant')].map(firstLine)
}

function isDirective(sentence: string): boolean {
  return /\b(?:must|never|always|only|remember|prefer|don't|do not|keep|is|are)\b/i.test(sentence)
}

function saidBy(records: readonly Record[], speaker: Record['who']): readonly string[] {
  return records.filter(({ who, text }) => who === speaker && text !== '').map(({ text }) => text)
}

function firstLine(text: string): string {
  return text.split('\n').find((line) => line.trim() !== '') ?? ''
}

/** The newest distinct lines that fit, in order. */
function newest(lines: readonly string[], charactersMax: number): string {
  const taken: string[] = []
  const seen = new Set<string>()
  const lineMax = Math.min(LINE_CHARACTERS_MAX, charactersMax - 3)
  let room = charactersMax
  for (const line of lines.toReversed()) {
    const short = line.trim().slice(0, lineMax).toWellFormed()
    if (short === '' || seen.has(short)) continue
    room -= short.length + 3
    if (room < 0) break
    seen.add(short)
    taken.unshift(`- ${short}`)
  }
  return taken.join('\n')
}

/** The points of earlier handoffs by heading, oldest first. */
function readSections(handoffs: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const sections = new Map<string, string[]>()
  for (const handoff of handoffs) {
    let points: string[] | undefined
    for (const line of handoff.split('\n')) {
      if (line.startsWith('## ')) {
        const heading = line.slice(3).trim()
        points = sections.get(heading) ?? []
        sections.set(heading, points)
      } else if (line.startsWith('- ') && line !== '- Nothing noted.') points?.push(line.slice(2))
    }
  }
  return sections
}
