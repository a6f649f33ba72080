/**
 * Inline Markdown spans in one line: bold, italic, strikethrough, code, links and escaped
 * characters. One pass over the text; no search runs twice from the same offset.
 */
export interface InlineMark {
  readonly kind: Tag | 'code' | 'link' | 'escaped'
  /** Offsets of the opening mark, of the marked text, and of the end of the closing mark. */
  readonly from: number
  readonly innerFrom: number
  readonly innerTo: number
  readonly to: number
  readonly open: string
  readonly close: string
  readonly address?: string
  /** Nested spans, in order. */
  readonly marks: readonly InlineMark[]
}

export type Tag = 'b' | 'i' | 's'

interface Span {
  readonly mark: string
  readonly tag: Tag
  /** Only at a word boundary: `snake_case` is a name. */
  readonly needsEdge: boolean
}

/** Longer marks first: `**` is not two of `*`. */
const SPANS: readonly Span[] = [
  { mark: '**', tag: 'b', needsEdge: false },
  { mark: '__', tag: 'b', needsEdge: true },
  { mark: '~~', tag: 's', needsEdge: false },
  { mark: '*', tag: 'i', needsEdge: false },
  { mark: '_', tag: 'i', needsEdge: true },
]

const SPECIAL = /[\\`*_~[]/g
const ESCAPED = /[\\`*_~[\](){}#+.!>|-]/

/**
 * A span never contains its own mark, so the recursion is at most as deep as there are kinds of
 * marks. `base`: the offset of `text` in the whole text.
 */
export function readMarks(text: string, base = 0): readonly InlineMark[] {
  const links = new Links(text, base)
  const missing = new Set<string>()
  const marks: InlineMark[] = []
  for (let at = nextSpecial(text, 0); at >= 0; ) {
    const found =
      readEscaped(text, at, base) ??
      readCode(text, at, base, missing) ??
      links.read(at) ??
      readSpan(text, at, base, missing)
    if (found !== undefined) marks.push(found)
    at = nextSpecial(text, found === undefined ? at + 1 : found.to - base)
  }
  return marks
}

/** The spans that a cut at `at` would split, outermost first. */
export function marksAround(marks: readonly InlineMark[], at: number): readonly InlineMark[] {
  let [low, high] = [0, marks.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((marks[middle]?.from ?? at) < at) low = middle + 1
    else high = middle
  }
  const last = marks[low - 1]
  return last === undefined || at >= last.to ? [] : [last, ...marksAround(last.marks, at)]
}

function nextSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from
  return SPECIAL.exec(text)?.index ?? -1
}

function readEscaped(text: string, at: number, base: number): InlineMark | undefined {
  if (text[at] !== '\\' || !ESCAPED.test(text.charAt(at + 1))) return undefined
  const from = base + at
  return {
    ...{ kind: 'escaped', from, innerFrom: from + 1, innerTo: from + 2, to: from + 2 },
    ...{ open: '\\', close: '', marks: [] },
  }
}

const CODE_MARKS = ['```', '``', '`'] as const

function readCode(
  text: string,
  at: number,
  base: number,
  missing: Set<string>,
): InlineMark | undefined {
  if (text[at] !== '`') return undefined
  const mark = CODE_MARKS.find((each) => text.startsWith(each, at)) ?? '`'
  const start = at + mark.length
  const end = indexOf(text, mark, start, missing)
  if (end <= start) return undefined
  return marked('code', { mark, start, end, base, marks: [] })
}

function readSpan(
  text: string,
  at: number,
  base: number,
  missing: Set<string>,
): InlineMark | undefined {
  const span = SPANS.find(({ mark }) => text.startsWith(mark, at))
  if (span === undefined) return undefined
  const { mark, tag, needsEdge } = span
  const start = at + mark.length
  if (isBlank(text.charAt(start)) || (needsEdge && isWord(text.charAt(at - 1)))) return undefined
  const end = indexOf(text, mark, start, missing)
  if (end <= start || isBlank(text.charAt(end - 1))) return undefined
  if (needsEdge && isWord(text.charAt(end + mark.length))) return undefined
  const marks = readMarks(text.slice(start, end), base + start)
  return marked(tag, { mark, start, end, base, marks })
}

function marked(
  kind: Tag | 'code',
  found: {
    readonly mark: string
    readonly start: number
    readonly end: number
    readonly base: number
    readonly marks: readonly InlineMark[]
  },
): InlineMark {
  const { mark, base, marks } = found
  const [innerFrom, innerTo] = [base + found.start, base + found.end]
  const [from, to] = [innerFrom - mark.length, innerTo + mark.length]
  return { kind, from, innerFrom, innerTo, to, open: mark, close: mark, marks }
}

/** A mark that was not found once is not searched for again further on. */
function indexOf(text: string, mark: string, from: number, missing: Set<string>): number {
  if (missing.has(mark)) return -1
  const found = text.indexOf(mark, from)
  if (found < 0) missing.add(mark)
  return found
}

const ADDRESS_CHARACTERS_MAX = 2_000
const ADDRESS = /^(?:https?:\/\/|mailto:|tg:\/\/)[^\s"<>]+$/

/** `[text](address)`: each end is searched for once; `](` belongs to the nearest `[` before it. */
class Links {
  readonly #text: string
  readonly #base: number
  #middle = -2
  #opening = -1
  #end = -2

  constructor(text: string, base: number) {
    this.#text = text
    this.#base = base
  }

  read(at: number): InlineMark | undefined {
    if (this.#text[at] !== '[') return undefined
    if (this.#middle !== -1 && this.#middle < at) {
      this.#middle = this.#text.indexOf('](', at)
      this.#opening = this.#middle < 0 ? -1 : this.#text.lastIndexOf('[', this.#middle)
    }
    if (this.#opening !== at) return undefined
    const start = this.#middle + 2
    if (this.#end !== -1 && this.#end < start) this.#end = this.#text.indexOf(')', start)
    const end = this.#end
    if (end < 0 || end - start > ADDRESS_CHARACTERS_MAX) return undefined
    const address = this.#text.slice(start, end)
    if (!ADDRESS.test(address)) return undefined
    const label = this.#text.slice(at + 1, this.#middle)
    const from = this.#base + at
    return {
      ...{ kind: 'link', from, innerFrom: from + 1, innerTo: this.#base + this.#middle },
      ...{ to: this.#base + end + 1, open: '[', close: `](${address})`, address },
      marks: readMarks(label, from + 1),
    }
  }
}

function isBlank(character: string): boolean {
  return character === '' || /\s/.test(character)
}

function isWord(character: string): boolean {
  return character !== '' && /[\p{L}\p{N}_]/u.test(character)
}
