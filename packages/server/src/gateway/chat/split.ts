import { splitsCharacter } from '#core/base/line'
import { isFence } from './code-fence.ts'
import { type InlineMark, marksAround, readMarks } from './inline.ts'

/**
 * A long answer as several messages. Each is cut where a reader would pause: between paragraphs,
 * else lines, else sentences, else words. If a cut splits a code block or an inline mark (bold,
 * links, quotes and so on), the mark is closed at the end of one message and opened again at the
 * start of the next.
 */
export function splitText(text: string, lengthMax: number): readonly string[] {
  const pieces: string[] = []
  const lines = new MarkedLines(text)
  let fence: string | null = null
  let reopened = ''
  for (let from = 0; from < text.length; ) {
    const opening: string = fence === null ? reopened : `${fence}\n`
    const isLast: boolean = opening.length + text.length - from <= lengthMax
    const space: number = Math.max(1, lengthMax - opening.length - CLOSING.length)
    const end: number = isLast ? text.length : from + findBreak(text, from, space)
    const inside: string | null = openFence(text.slice(from, end), fence)
    const cut: Cut =
      isLast || inside !== null
        ? { end, next: end, closing: isLast ? '' : CLOSING, reopening: '' }
        : cutMarks(lines, { from, end, space, overheadMax: lengthMax / 2 })
    const body: string = text.slice(from, cut.end)
    fence = inside
    reopened = cut.reopening
    const piece = `${opening}${isLast ? body : body.trimEnd()}${cut.closing}`
    if (VISIBLE.test(piece)) pieces.push(piece)
    // Blank lines at a cut belong to neither side; indentation belongs to its line.
    from = isLast ? cut.next : cut.next + lengthOf(BLANKS, text, cut.next)
  }
  return pieces
}

const BLANKS = /[ \t]*\n+/y
const SPACES = /[ \t]*/y

function lengthOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0].length ?? 0
}

interface Cut {
  readonly end: number
  /** Where the next piece continues. */
  readonly next: number
  readonly closing: string
  readonly reopening: string
}

interface Wanted {
  readonly from: number
  readonly end: number
  readonly space: number
  readonly overheadMax: number
}

const TRIES_MAX = 8

/** Closes the marks that a cut would split; if that is impossible, the cut stays as it was. */
function cutMarks(lines: MarkedLines, { from, end: wanted, space, overheadMax }: Wanted): Cut {
  const { text } = lines
  let end = wanted
  for (let tries = 0; tries < TRIES_MAX && end > from; tries++) {
    const { marks, prefix, start, textFrom } = lines.at(end)
    const torn = marksAround(marks, end)
    const [outer] = torn
    const inner = torn.at(-1)
    // A line prefix must not be the only thing before the cut.
    if (end > start && end <= textFrom && start > from) {
      end = start
      continue
    }
    if (outer === undefined || inner === undefined) {
      return { end, next: end, closing: '', reopening: prefix }
    }
    const visibleEnd = from + text.slice(from, end).trimEnd().length
    const closing = closingOf(torn, text.charAt(visibleEnd - 1))
    const reopening = prefix + torn.map(({ open }) => open).join('')
    if (closing.length + reopening.length > overheadMax) break
    if (outer.from - from >= space * EARLIEST_SHARE) end = outer.from
    else if (inner.kind === 'escaped' || visibleEnd <= inner.innerFrom) end = inner.from
    else if (end >= inner.innerTo) end = lastBreak(text, inner)
    else if (end - from + closing.length > space) {
      end = from + findBreak(text, from, space - closing.length)
    } else {
      const next = Math.min(inner.innerTo, end + lengthOf(SPACES, text, end))
      return { end, next, closing, reopening }
    }
  }
  return { end: wanted, next: wanted, closing: '', reopening: '' }
}

/** Marks from the inside out. A zero-width space keeps `*` and `**` apart. */
function closingOf(torn: readonly InlineMark[], before: string): string {
  let closing = ''
  for (const { close } of torn.toReversed()) {
    closing += (closing.at(-1) ?? before) === close[0] ? `\u200b${close}` : close
  }
  return closing
}

function lastBreak(text: string, { innerFrom, innerTo }: InlineMark): number {
  const space = text.lastIndexOf(' ', innerTo - 1)
  if (space > innerFrom) return space
  return splitsCharacter(text, innerTo - 1) ? innerTo - 2 : innerTo - 1
}

/** The prefix of a line, and the part of it that the second half must repeat. */
const BEGINNING = /^(?:(> ?|#{1,6} +)| {0,12}[-*+] +)/

interface MarkedLine {
  readonly marks: readonly InlineMark[]
  readonly prefix: string
  readonly start: number
  readonly textFrom: number
}

/** The marks of each line, parsed once, when a cut is first searched for in it. */
class MarkedLines {
  readonly text: string
  #from = 0
  #to = -1
  #marks: readonly InlineMark[] = []
  #prefix = ''
  #textFrom = 0

  constructor(text: string) {
    this.text = text
  }

  /** The marks of the line around `at`; none at its end. */
  at(at: number): MarkedLine {
    const { text } = this
    if (text[at - 1] === '\n' || text[at] === '\n') {
      return { marks: [], prefix: '', start: at, textFrom: at }
    }
    if (at < this.#from || at >= this.#to) {
      this.#from = text.lastIndexOf('\n', at - 1) + 1
      const end = text.indexOf('\n', at)
      this.#to = end < 0 ? text.length : end
      const line = text.slice(this.#from, this.#to)
      const [beginning = '', prefix = ''] = BEGINNING.exec(line) ?? []
      const start = beginning.length
      this.#prefix = prefix
      this.#textFrom = this.#from + start
      // Tables keep their source text.
      this.#marks = line.startsWith('|') ? [] : readMarks(line.slice(start), this.#from + start)
    }
    const [marks, prefix] = [this.#marks, this.#prefix]
    return { marks, prefix, start: this.#from, textFrom: this.#textFrom }
  }
}

const CLOSING = '\n```'
/** Platforms refuse a message without visible characters. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Mn}\u115f\u1160\u2800\u3164\uffa0]/u
const BREAKS = ['\n\n', '\n', '. ', ' '] as const
/** An earlier break would leave a message nearly empty. */
const EARLIEST_SHARE = 0.4

function findBreak(text: string, from: number, space: number): number {
  const window = text.slice(from, from + space)
  for (const mark of BREAKS) {
    const at = window.lastIndexOf(mark)
    if (at >= space * EARLIEST_SHARE) return at + mark.length
  }
  return wholeUpTo(text.slice(from, from + space + CLUSTER_MAX), space)
}

const CLUSTERS = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Longer than any emoji sequence. */
const CLUSTER_MAX = 64

/** The last boundary between two visible characters (grapheme clusters) before `space`. */
function wholeUpTo(text: string, space: number): number {
  let end = 0
  for (const { index } of CLUSTERS.segment(text.slice(0, space + CLUSTER_MAX))) {
    if (index > space) break
    end = index
  }
  if (end > 0) return end
  // A longer cluster is still cut, but never within a code point.
  return splitsCharacter(text, space) && space > 1 ? space - 1 : space
}

const LANGUAGE_MAX = 40

/** The opening line of the block of code that is still open at the end, if one is. */
function openFence(text: string, before: string | null): string | null {
  let open = before
  for (const line of text.split('\n')) {
    if (!isFence(line)) continue
    open = open === null ? line.trim().slice(0, LANGUAGE_MAX) : null
  }
  return open
}
