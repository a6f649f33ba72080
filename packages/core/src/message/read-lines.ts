import type { JsonValue } from '../base/json.ts'
import { InputError } from './input-error.ts'
import { findDepthFault, type JsonFault, scanDocument } from './json-text.ts'

/** Reads JSON documents from text; errors name the line and column of the file. */
interface ReadLines {
  readonly values: readonly JsonValue[]
  readonly notes: readonly string[]
}

export function parseDocument(text: string, firstLine = 1): JsonValue {
  const deep = findDepthFault(text)
  if (deep !== undefined) throw faultAt(text, deep, firstLine)
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw faultAt(text, findFault(text), firstLine)
  }
}

/**
 * One document per line. Programs die while writing, and two may write at once, so blank lines, a
 * truncated last line and several documents on one line are accepted with a note; any other broken
 * line is an error.
 */
export function parseLines(text: string): ReadLines {
  const values: JsonValue[] = []
  const notes: string[] = []
  const shared: number[] = []
  let blank = 0
  let number = 0
  for (const [start, end] of lineRanges(text)) {
    number++
    const line = text.slice(start, end)
    if (line.trim() === '') {
      blank++
      continue
    }
    try {
      values.push(parseDocument(line, number))
    } catch (error) {
      if (findDepthFault(line) !== undefined) throw error
      const several = parseSeveral(line)
      if (several !== undefined) {
        for (const value of several) values.push(value)
        shared.push(number)
      } else if (isTorn(line) && values.length > 0 && text.slice(end).trim() === '') {
        notes.push(`Line ${number}, the last one, is torn and was left out.`)
      } else throw error
    }
  }
  if (shared.length > 0) {
    const more = shared.length === 1 ? '' : ` and ${shared.length - 1} more`
    notes.push(`Line ${shared[0]}${more} held several documents; all were read.`)
  }
  if (blank > 0) notes.push(`Blank lines were skipped: ${blank}.`)
  return { values, notes }
}

/** Start and end of every line, without an empty one after the last line break. */
function* lineRanges(text: string): Generator<readonly [number, number]> {
  let start = 0
  while (start < text.length) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    yield [start, end]
    start = end + 1
  }
}

function parseSeveral(line: string): readonly JsonValue[] | undefined {
  const values: JsonValue[] = []
  const length = line.trimEnd().length
  let at = 0
  while (at < length) {
    const end = scanDocument(line, at)
    if (typeof end !== 'number') return undefined
    values.push(parseDocument(line.slice(at, end)))
    at = end
  }
  return values.length > 1 ? values : undefined
}

/** The line ends in the middle of a document, as when the writer was killed. */
function isTorn(line: string): boolean {
  const fault = scanDocument(line, 0)
  return typeof fault !== 'number' && fault.at >= line.trimEnd().length
}

function findFault(text: string): JsonFault {
  const end = scanDocument(text, 0)
  if (typeof end !== 'number') return end
  return {
    at: text.length - text.slice(end).trimStart().length,
    problem: 'text continues after the end',
  }
}

function faultAt(text: string, { at, problem }: JsonFault, firstLine: number): InputError {
  let line = firstLine
  let start = 0
  for (let next = text.indexOf('\n'); next !== -1 && next < at; next = text.indexOf('\n', start)) {
    line++
    start = next + 1
  }
  const position = { line, column: at - start + 1 }
  return new InputError(
    `The input is not valid JSON: line ${line}, column ${position.column}: ${problem}.`,
    position,
  )
}
