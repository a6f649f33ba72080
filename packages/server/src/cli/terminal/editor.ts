import stringWidth from 'fast-string-width'
import type { Key } from './keys.ts'

/** The message being written: a text with a cursor, on as many lines as it needs. */
export interface InputDraft {
  readonly text: string
  readonly cursor: number
}

export const EMPTY_DRAFT: InputDraft = { text: '', cursor: 0 }

export type Edited =
  | { readonly kind: 'draft'; readonly draft: InputDraft }
  | { readonly kind: 'submit'; readonly text: string }
  /** Up in the first line or down in the last: moves through the history. */
  | { readonly kind: 'history'; readonly step: -1 | 1 }
  | { readonly kind: 'complete' }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'leave' }
  | { readonly kind: 'redraw' }

export function edit(draft: InputDraft, key: Key): Edited {
  if (key.kind !== 'key') return changed(insert(draft, key.text))
  const { name, ctrl, alt, shift } = key
  if (name === 'enter') return enter(draft, shift || alt || ctrl)
  if (ctrl) return editControl(draft, name)
  if (alt) return editAlt(draft, name)
  switch (name) {
    case 'tab':
      return { kind: 'complete' }
    case 'backspace':
      return changed(remove(draft, before(draft), draft.cursor))
    case 'delete':
      return changed(remove(draft, draft.cursor, after(draft)))
    case 'left':
      return moved(draft, before(draft))
    case 'right':
      return moved(draft, after(draft))
    case 'home':
      return moved(draft, lineStart(draft))
    case 'end':
      return moved(draft, lineEnd(draft))
    case 'up':
      return goUp(draft)
    case 'down':
      return goDown(draft)
    default:
      return changed(draft)
  }
}

/** With a modifier, or after a backslash, Enter adds a line. */
function enter(draft: InputDraft, isNewLine: boolean): Edited {
  if (isNewLine) return changed(insert(draft, '\n'))
  const { text, cursor } = draft
  if (cursor === text.length && text.endsWith('\\')) {
    return changed(insert(remove(draft, cursor - 1, cursor), '\n'))
  }
  return { kind: 'submit', text }
}

function editControl(draft: InputDraft, name: string): Edited {
  switch (name) {
    case 'j':
      return changed(insert(draft, '\n'))
    case 'c':
      return { kind: 'interrupt' }
    case 'd':
      return draft.text === ''
        ? { kind: 'leave' }
        : changed(remove(draft, draft.cursor, after(draft)))
    case 'l':
      return { kind: 'redraw' }
    case 'a':
      return moved(draft, lineStart(draft))
    case 'e':
      return moved(draft, lineEnd(draft))
    case 'b':
      return moved(draft, before(draft))
    case 'f':
      return moved(draft, after(draft))
    case 'p':
      return goUp(draft)
    case 'n':
      return goDown(draft)
    case 'k':
      return changed(remove(draft, draft.cursor, lineEnd(draft)))
    case 'u':
      return changed(remove(draft, lineStart(draft), draft.cursor))
    case 'w':
    case 'backspace':
      return changed(remove(draft, wordStart(draft), draft.cursor))
    case 'left':
      return moved(draft, wordStart(draft))
    case 'right':
      return moved(draft, wordEnd(draft))
    default:
      return changed(draft)
  }
}

function editAlt(draft: InputDraft, name: string): Edited {
  switch (name) {
    case 'b':
    case 'left':
      return moved(draft, wordStart(draft))
    case 'f':
    case 'right':
      return moved(draft, wordEnd(draft))
    case 'backspace':
      return changed(remove(draft, wordStart(draft), draft.cursor))
    case 'd':
      return changed(remove(draft, draft.cursor, wordEnd(draft)))
    default:
      return changed(draft)
  }
}

function changed(draft: InputDraft): Edited {
  return { kind: 'draft', draft }
}

function moved({ text }: InputDraft, cursor: number): Edited {
  return changed({ text, cursor })
}

export function insert({ text, cursor }: InputDraft, piece: string): InputDraft {
  return {
    text: text.slice(0, cursor) + piece + text.slice(cursor),
    cursor: cursor + piece.length,
  }
}

function remove({ text }: InputDraft, from: number, to: number): InputDraft {
  return { text: text.slice(0, from) + text.slice(to), cursor: from }
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** Far more than the longest grapheme, so that only the end of a message is segmented. */
const SIGN_MAX = 64

/** The start of the grapheme before the cursor: an emoji may be several characters. */
function before({ text, cursor }: InputDraft): number {
  const near = text.slice(Math.max(0, cursor - SIGN_MAX), cursor)
  const last = [...graphemes.segment(near)].at(-1)?.segment ?? ''
  return cursor - last.length
}

function after({ text, cursor }: InputDraft): number {
  const [first] = graphemes.segment(text.slice(cursor, cursor + SIGN_MAX))
  return cursor + (first?.segment.length ?? 0)
}

function lineStart({ text, cursor }: InputDraft): number {
  return text.lastIndexOf('\n', cursor - 1) + 1
}

function lineEnd({ text, cursor }: InputDraft): number {
  const end = text.indexOf('\n', cursor)
  return end < 0 ? text.length : end
}

function wordStart({ text, cursor }: InputDraft): number {
  let at = cursor
  while (at > 0 && /\s/.test(text[at - 1] ?? '')) at -= 1
  while (at > 0 && /\S/.test(text[at - 1] ?? '')) at -= 1
  return at
}

function wordEnd({ text, cursor }: InputDraft): number {
  let at = cursor
  while (at < text.length && /\s/.test(text[at] ?? '')) at += 1
  while (at < text.length && /\S/.test(text[at] ?? '')) at += 1
  return at
}

function goUp(draft: InputDraft): Edited {
  const start = lineStart(draft)
  if (start === 0) return { kind: 'history', step: -1 }
  const above = lineStart({ ...draft, cursor: start - 1 })
  return moved(draft, Math.min(above + draft.cursor - start, start - 1))
}

function goDown(draft: InputDraft): Edited {
  const end = lineEnd(draft)
  if (end === draft.text.length) return { kind: 'history', step: 1 }
  const below = lineEnd({ ...draft, cursor: end + 1 })
  return moved(draft, Math.min(end + 1 + draft.cursor - lineStart(draft), below))
}

/** Completes to the only match, or to the common prefix; returns the names if there are several. */
export function completeCommand(
  { text, cursor }: InputDraft,
  names: readonly string[],
): { readonly draft: InputDraft; readonly choices: readonly string[] } {
  const same = { draft: { text, cursor }, choices: [] }
  if (!text.startsWith('/') || cursor !== text.length || /\s/.test(text)) return same
  const found = names.filter((name) => `/${name}`.startsWith(text)).map((name) => `/${name}`)
  const [first, ...others] = found
  if (first === undefined) return same
  if (others.length === 0)
    return { draft: { text: `${first} `, cursor: first.length + 1 }, choices: [] }
  let length = text.length
  while (found.every((name) => name[length] === first[length] && length < name.length)) length += 1
  return { draft: { text: first.slice(0, length), cursor: length }, choices: found }
}

export interface DraftLayout {
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
}

const PROMPT = '> '
/** The width of a tab depends on the terminal; spaces keep the cursor where it is drawn. */
export const TAB = '    '

/** The draft as rows of a terminal, and where its cursor is. */
export function layOutDraft({ text, cursor }: InputDraft, columns: number): DraftLayout {
  const width = Math.max(4, columns - PROMPT.length)
  const rows: string[] = []
  let [row, column] = [0, 0]
  let at = 0
  for (const line of text.split('\n')) {
    let current = ''
    let currentWidth = 0
    const end = () => {
      rows.push(`${rows.length === 0 ? PROMPT : ' '.repeat(PROMPT.length)}${current}`)
      ;[current, currentWidth] = ['', 0]
    }
    for (const { segment } of graphemes.segment(line)) {
      const sign = segment === '\t' ? TAB : segment
      const segmentWidth = stringWidth(sign)
      if (currentWidth + segmentWidth > width) end()
      if (at <= cursor) [row, column] = [rows.length, currentWidth]
      current += sign
      currentWidth += segmentWidth
      at += segment.length
    }
    if (at <= cursor) {
      if (currentWidth >= width) end()
      ;[row, column] = [rows.length, currentWidth]
    }
    end()
    at += 1
  }
  return { rows, cursor: { row, column: column + PROMPT.length } }
}
