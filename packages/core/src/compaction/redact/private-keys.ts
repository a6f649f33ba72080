import type { Secret } from './secret.ts'

/**
 * Private keys in PEM and PGP armour. Programs print files with something before every line: numbers
 * (`cat -n`), a path (`grep -n`), the marks of a quotation or of a diff. A key whose first or last line
 * is missing is found, too.
 *
 * Linear: a key is read line by line, once.
 */
export function findPrivateKeys(text: string): readonly Secret[] {
  const secrets: Secret[] = []
  let done = 0
  for (const { index } of text.matchAll(ARMOUR)) {
    if (index < done) continue
    const secret = keyFrom(text, index) ?? keyBefore(text, index, done)
    if (secret === undefined) continue
    secrets.push({ kind: 'private-key', ...secret })
    done = secret.to
  }
  return secrets
}

type Range = Pick<Secret, 'from' | 'to'>

const ARMOUR = /-----(?:BEGIN|END) /g
const LABEL = '(?:[A-Z0-9]{2,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----'
const BEGIN = new RegExp(`-----BEGIN ${LABEL}`, 'y')
const END = new RegExp(`-----END ${LABEL}`, 'y')
const ANY_END = /-----END [A-Z0-9 ]{0,50}-----/y

const HEADER = /[A-Za-z-]{3,20}: [^\n\\"]{0,120}/y
const LINE = /[\w+/=]{20,}/y
const LAST_LINE = /[\w+/=]{0,76}/y

function keyFrom(text: string, from: number): Range | undefined {
  if (!isAt(BEGIN, text, from)) return undefined
  let to: number | undefined
  for (let at = startOfLine(text, BEGIN.lastIndex); ; at = startOfLine(text, to)) {
    if (isAt(HEADER, text, at)) to = HEADER.lastIndex
    else if (isAt(LINE, text, at)) to = LINE.lastIndex
    else if (to === undefined) return undefined
    else {
      isAt(LAST_LINE, text, at)
      const hasEnd = isAt(ANY_END, text, startOfLine(text, LAST_LINE.lastIndex))
      return { from, to: hasEnd ? ANY_END.lastIndex : to }
    }
  }
}

/** White space, also as escapes in a string. */
const GAP = /(?:\s|\\+[nrt])*/y
const BEFORE_LINE =
  /(?:[>|+]|-(?!-{4}[BE])|\d{1,7}[:|→ \t-]|[^\s:"'`\\]{1,200}[:-]\d{1,7}[:-])[ \t]*/y
/** `> 12: +` is a quoted diff with line numbers. */
const MARKS_MAX = 3

function startOfLine(text: string, from: number): number {
  isAt(GAP, text, from)
  let at = GAP.lastIndex
  for (let marks = 0; marks < MARKS_MAX && isAt(BEFORE_LINE, text, at); marks++)
    at = BEFORE_LINE.lastIndex
  return at
}

const LINE_CHARACTERS_MAX = 400
const WHOLE_LINE = /^[\w+/=]{20,}$/
const WHOLE_LAST_LINE = /^[\w+/=]{1,76}$/

/** The lines in front of an END whose BEGIN is missing. */
function keyBefore(text: string, end: number, done: number): Range | undefined {
  if (!isAt(END, text, end)) return undefined
  let from: number | undefined
  for (let lineEnd = lineBreakBefore(text, end), isLast = true; lineEnd > done; isLast = false) {
    const lineBreak = lineBreakBefore(text, lineEnd)
    const at = startOfLine(text, Math.max(lineBreak + 1, done))
    const line = text.slice(at, lineEnd).trimEnd()
    if (WHOLE_LINE.test(line)) from = at
    else if (!isLast || !WHOLE_LAST_LINE.test(line)) break
    lineEnd = lineBreak
  }
  return from === undefined ? undefined : { from, to: END.lastIndex }
}

/** -1, just before the text, if there is none nearby. */
function lineBreakBefore(text: string, at: number): number {
  const from = Math.max(0, at - LINE_CHARACTERS_MAX)
  const found = text.slice(from, at).lastIndexOf('\n')
  return found === -1 ? -1 : from + found
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}
