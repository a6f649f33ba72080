import { stripVTControlCharacters } from 'node:util'

/**
 * Parses one line of a Hermes log: the file format, the verbose console's, and what people paste
 * into issues (a time without a date, or only the message). Every step reads a bounded number of
 * characters or searches for a fixed text, so the cost is linear in the line's length.
 */
export interface LogLine {
  /** Seconds by the log's clock, which names no time zone; null if the line has no time. */
  readonly at: number | null
  readonly level: string | null
  readonly tag: string | null
  readonly logger: string | null
  readonly message: string
}

const LINE_LENGTH_MAX = 4_096
const STAMP =
  /^(?:(\d{4})-(\d{2})-(\d{2})[ T])?(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,6}))?(?:Z|[+-]\d{2}:?\d{2})?(?= )/
const LEVELS = new Set(['DEBUG', 'INFO', 'WARNING', 'WARN', 'ERROR', 'CRITICAL'])
const LOGGER = /^[\w.-]{1,80}$/

export function parseLogLine(raw: string): LogLine {
  const text = plain(raw.slice(0, LINE_LENGTH_MAX).trimEnd())
  const stamp = STAMP.exec(text)
  if (stamp === null) return readHead(text, null)
  const at = secondsOf(stamp)
  const rest = text.slice(stamp[0].length + 1)
  return rest.startsWith('- ') ? readConsole(rest.slice(2), at) : readHead(rest, at)
}

/** Without a byte order mark and terminal colours. */
function plain(text: string): string {
  const unmarked = text.startsWith('\uFEFF') ? text.slice(1) : text
  return unmarked.includes('\u001B') ? stripVTControlCharacters(unmarked) : unmarked
}

/** `LEVEL[ [tag]][ logger:] message`; without a level the whole text is the message. */
function readHead(text: string, at: number | null): LogLine {
  const [level, afterLevel] = cut(text, ' ')
  if (!LEVELS.has(level)) return { at, level: null, tag: null, logger: null, message: text }
  const { tag, rest } = readTag(afterLevel.trimStart())
  const [logger, message] = cut(rest, ': ')
  return LOGGER.test(logger)
    ? { at, level, tag, logger, message: message.trimStart() }
    : { at, level, tag, logger: null, message: rest }
}

/** `logger - LEVEL[ [tag]] - message`. */
function readConsole(text: string, at: number | null): LogLine {
  const [logger, afterLogger] = cut(text, ' - ')
  const [head, message] = cut(afterLogger, ' - ')
  const [level, afterLevel] = cut(head, ' ')
  if (!LOGGER.test(logger) || !LEVELS.has(level)) {
    return { at, level: null, tag: null, logger: null, message: text }
  }
  return { at, level, tag: readTag(afterLevel).tag, logger, message }
}

function readTag(text: string): { readonly tag: string | null; readonly rest: string } {
  const end = text.startsWith('[') ? text.indexOf('] ') : -1
  if (end > 0) return { tag: text.slice(1, end), rest: text.slice(end + 2) }
  return text.startsWith('[') && text.endsWith(']')
    ? { tag: text.slice(1, -1), rest: '' }
    : { tag: null, rest: text }
}

function cut(text: string, separator: string): readonly [string, string] {
  const index = text.indexOf(separator)
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + separator.length)]
}

function secondsOf(stamp: RegExpExecArray): number {
  const [, year, month, day, hours, minutes, seconds, fraction] = stamp
  const date =
    year === undefined ? 0 : Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1_000
  const time = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
  return date + time + (fraction === undefined ? 0 : Number(`0.${fraction}`))
}
