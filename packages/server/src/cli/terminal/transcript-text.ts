import type { JsonObject } from '#core/base/json'
import { isObject } from '#core/base/json'
import { clip, oneLine } from '#core/base/line'
import { NOTES_PIN } from '#core/message/handoff/pinned'
import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import { asTyped } from '#core/message/typed-command'
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
      if (word(entry.meta, 'by') === 'clearing') {
        return { title: paint('green', clearedText(entry.meta)), lines: [] }
      }
      return {
        title: paint('green', `compaction: a handoff replaces ${coveredText(entry.meta)}`),
        lines: handoffLines(entry.body),
      }
    case 'pin':
      return describePin(entry)
    case 'revert':
      return { title: revertText(entry), lines: [] }
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

function revertText({ meta, body }: TranscriptEntry): string {
  if (!('to' in meta)) return `compaction #${word(meta, 'target')} undone`
  if (!isObject(body)) return `rewound: the conversation continues from #${word(meta, 'to')}`
  return body['by'] === 'leave'
    ? 'the client continues from the handoff that `leave` wrote'
    : 'the client compacted the conversation itself and continues from its summary'
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

function clearedText(meta: TranscriptEntry['meta']): string {
  const upto = 'clears' in meta ? meta.clears?.upto : undefined
  return `compaction: tool results up to #${upto ?? 0} cleared, nothing is summarized`
}

function coveredText(meta: TranscriptEntry['meta']): string {
  return `entries 1 to ${word(meta, 'covers')}, written by a ${word(meta, 'by')}`
}

function handoffLines(body: TranscriptEntry['body']): readonly string[] {
  if (!isObject(body)) return ['[erased]']
  const summary = body['summary']
  return typeof summary === 'string' ? printable(summary).split('\n') : []
}

function describePin({ meta, body }: TranscriptEntry): EntryText {
  const name = word(meta, 'name')
  const title = name === NOTES_PIN ? 'notes that the agent sees' : `pin ${name}`
  if (word(meta, 'change') === 'removed') return { title: `${title} removed`, lines: [] }
  return { title, lines: printable(plainBody(body ?? '[erased]')).split('\n') }
}

function word(meta: TranscriptEntry['meta'] | JsonObject, key: string): string {
  const value = (meta as JsonObject)[key]
  // Names come from models and imported files: a line break in one could imitate an entry.
  return clip(oneLine(printable(Array.isArray(value) ? value.join(', ') : String(value ?? ''))))
}

function plainBody(body: JsonObject | string): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
