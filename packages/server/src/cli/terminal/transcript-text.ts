import type { JsonObject } from '#core/base/json'
import { isObject } from '#core/base/json'
import { clip, oneLine } from '#core/base/line'
import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import { asTyped } from '#core/message/typed-command'
import {
  compactionTitle,
  factOf,
  isRemoved,
  pinTitle,
  revertTitle,
} from '../../gateway/text/entry-titles.ts'
import type { TranscriptEntry } from '../../runtime/runtime.ts'
import type { Paint } from './colours.ts'
import { countText, grouped, isNotification, moment, speakerOf } from './format.ts'
import { wrapWords } from './markdown.ts'
import { printable } from './printable.ts'

/**
 * A transcript as text. Every entry has its number, for `show --at` and `purge`. Entries that the
 * model no longer sees word for word have a rule at the left; the handoff that replaces them
 * appears where it was written.
 */
export interface TranscriptStyle {
  readonly paint: Paint
  /** Lines printed of one tool result; the rest is counted. */
  readonly resultLinesMax: number
  /** The width of the terminal; undefined: the text goes to a file or a program. */
  readonly columns?: number | undefined
  /** The tool of each call, by the id of the call. */
  readonly tools?: ReadonlyMap<string, string>
}

/** The tools that these entries call, by the ids of the calls. */
export function toolsIn(entries: readonly TranscriptEntry[]): ReadonlyMap<string, string> {
  const calls = entries.flatMap(({ message }) =>
    message?.role === 'assistant'
      ? message.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
      : [],
  )
  return new Map(calls.map(({ id, name }) => [id, name]))
}

export function drawEntries(entries: readonly TranscriptEntry[], style: TranscriptStyle): string {
  // Models never see entries such as the end of a turn; between covered entries they count as
  // covered.
  const covered = entries.findLast((entry) => entry.isCovered)?.number ?? 0
  const tools = new Map([...(style.tools ?? []), ...toolsIn(entries)])
  return entries
    .map((entry) => ({ ...entry, isCovered: entry.number <= covered }))
    .map((entry) => `${drawEntry(entry, { ...style, tools })}\n`)
    .join('')
}

function drawEntry(entry: TranscriptEntry, style: TranscriptStyle): string {
  const { paint } = style
  const { title, lines } = describeEntry(entry, style)
  const number = `#${entry.number}`
  const head = `${paint('bold', number)} ${title}${paint('dim', `  ${moment(entry.at)}`)}`
  const rule = entry.isCovered ? `${paint('dim', '┊')} ` : '  '
  const body = fitLines(lines, style.columns, RULE_COLUMNS).map(
    (line) => `    ${entry.isCovered ? paint('dim', line) : line}`,
  )
  const [first = '', ...rest] = fitLines([head], style.columns, RULE_COLUMNS)
  const lengthy = rest.map((line) => `    ${line}`)
  return [first, ...lengthy, ...body].map((line) => `${rule}${line}`.trimEnd()).join('\n')
}

const RULE_COLUMNS = 2
const INDENT_COLUMNS = 4

/**
 * Lines that fit the terminal beside their indentation: the rest of a longer one would begin at the
 * left, where it could imitate the heading of an entry.
 */
export function fitLines(
  lines: readonly string[],
  columns: number | undefined,
  ruleColumns = 0,
): readonly string[] {
  if (columns === undefined) return lines
  const width = Math.max(COLUMNS_MIN, columns - INDENT_COLUMNS - ruleColumns - 1)
  return lines.flatMap((line) => wrapWords(line, width))
}

const COLUMNS_MIN = 8

interface EntryText {
  readonly title: string
  readonly lines: readonly string[]
}

function describeEntry(entry: TranscriptEntry, style: TranscriptStyle): EntryText {
  const { paint } = style
  switch (entry.kind) {
    case 'input':
      return said(
        isNotification(entry) ? paint('yellow', speakerOf(entry)) : speakerOf(entry),
        entry,
        style,
      )
    case 'assistant':
      return said(paint('cyan', speakerOf(entry)), entry, style)
    case 'result':
      return said(resultTitle(entry.meta, style), entry, style)
    case 'compaction':
      return {
        title: paint('green', printable(compactionTitle(entry))),
        lines: word(entry.meta, 'by') === 'clearing' ? [] : handoffLines(entry.body),
      }
    case 'pin':
      return describePin(entry)
    case 'revert':
      return { title: printable(revertTitle(entry)), lines: [] }
    case 'turn':
      return {
        title: paint('dim', `turn ${word(entry.meta, 'turn')} ended: ${word(entry.meta, 'ended')}`),
        lines: [],
      }
    case 'erasure':
      return { title: `erased: entries ${word(entry.meta, 'entries')}`, lines: [] }
    case 'record':
      return { title: paint('dim', 'record of another program'), lines: [] }
    case 'arrival': {
      const [origin, at] = [word(entry.meta, 'origin'), word(entry.meta, 'at')]
      return { title: paint('dim', `forked from session ${origin} at #${at}`), lines: [] }
    }
    case 'settings':
      return { title: paint('dim', settingsText(entry)), lines: [] }
    case 'task': {
      const lines = entry.body === null ? [] : [clip(oneLine(plainBody(entry.body)))]
      return { title: 'task list', lines }
    }
    default:
      return entry.kind satisfies never
  }
}

/** What they say to a person; `--json` has all of them. */
function settingsText({ body, meta, tokens }: TranscriptEntry): string {
  const { model, tools, client } = isObject(body) ? body : {}
  const window = 'limits' in meta ? [`window ${grouped(meta.limits.hardTokens)} tokens`] : []
  const many = Array.isArray(tools) ? countText(tools.length, 'tool') : 'tools'
  const facts = [
    ...(isObject(client) ? [`recorded from ${word(client, 'name')}`] : []),
    ...(isObject(body) && model !== undefined ? [`model ${word(body, 'model')}`] : []),
    ...window,
    ...(tokens > 0 ? [`system text and ${many} take ${grouped(tokens)}`] : []),
  ]
  return ['settings', facts.join(', ')].filter((text) => text !== '').join(': ')
}

function said(
  title: string,
  { message }: TranscriptEntry,
  { resultLinesMax, paint }: TranscriptStyle,
): EntryText {
  if (message === null) return { title, lines: [paint('dim', '[erased]')] }
  const linesMax = message.role === 'tool' ? resultLinesMax : Number.POSITIVE_INFINITY
  return { title, lines: shorten(messageLines(message), linesMax) }
}

/** Line by line, safe for a terminal. */
export function messageLines(message: Message): readonly string[] {
  return printable(textOf(asTyped(message))).split('\n')
}

/** The first lines, and how many more there are. */
export function shorten(lines: readonly string[], linesMax: number): readonly string[] {
  const rest = lines.length - linesMax
  return rest <= 1 ? lines : [...lines.slice(0, linesMax), `… and ${countText(rest, 'more line')}`]
}

function resultTitle(meta: TranscriptEntry['meta'], { paint, tools }: TranscriptStyle): string {
  const outcome = word(meta, 'outcome')
  const tool = 'call' in meta ? tools?.get(meta.call) : undefined
  const title = `result of ${tool === undefined ? word(meta, 'call') : word({ tool }, 'tool')}`
  return outcome === 'ok' ? title : `${title} ${paint('red', `(${outcome})`)}`
}

function handoffLines(body: TranscriptEntry['body']): readonly string[] {
  if (!isObject(body)) return ['[erased]']
  const summary = body['summary']
  return typeof summary === 'string' ? printable(summary).split('\n') : []
}

function describePin(entry: TranscriptEntry): EntryText {
  const title = printable(pinTitle(entry))
  if (isRemoved(entry.meta)) return { title, lines: [] }
  return { title, lines: printable(plainBody(entry.body ?? '[erased]')).split('\n') }
}

function word(meta: TranscriptEntry['meta'] | JsonObject, key: string): string {
  return printable(factOf(meta, key))
}

function plainBody(body: JsonObject | string): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
