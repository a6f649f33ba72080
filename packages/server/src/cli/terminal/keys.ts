/** A key that was pressed, or a text that was typed or pasted. */
export type Key =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'paste'; readonly text: string }
  | {
      readonly kind: 'key'
      readonly name: string
      readonly ctrl: boolean
      readonly alt: boolean
      readonly shift: boolean
    }

/**
 * Parses terminal input into keys. It may arrive in pieces: an incomplete sequence waits for more
 * input. Pasted text comes in brackets, so its line breaks do not send the message.
 */
export class KeyReader {
  #rest = ''

  read(piece: string): readonly Key[] {
    let text = this.#rest + piece
    const keys: Key[] = []
    while (text !== '') {
      const found = readKey(text)
      if (found === null) break
      if (found.key !== null) keys.push(found.key)
      text = text.slice(found.length)
    }
    this.#rest = text
    return keys
  }
}

const ESCAPE = '\u001b'
const PASTE_START = `${ESCAPE}[200~`
const PASTE_END = `${ESCAPE}[201~`

interface FoundKey {
  /** Null: a sequence without a meaning here. */
  readonly key: Key | null
  readonly length: number
}

/** Null: incomplete. */
function readKey(text: string): FoundKey | null {
  if (text.startsWith(PASTE_START)) return readPaste(text)
  if (text.startsWith(ESCAPE)) return readSequence(text)
  const control = CONTROLS[text[0] ?? '']
  if (control !== undefined) return { key: control, length: 1 }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what ends it
  const plain = /^[^\u0000-\u001f\u007f]+/.exec(text)?.[0]
  if (plain === undefined) return { key: null, length: 1 }
  return { key: { kind: 'text', text: plain }, length: plain.length }
}

function readPaste(text: string): FoundKey | null {
  const end = text.indexOf(PASTE_END, PASTE_START.length)
  if (end < 0) return null
  // Terminals send the line breaks of a paste as carriage returns.
  const pasted = text
    .slice(PASTE_START.length, end)
    .replaceAll(/\r\n?/g, '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal would obey them
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
  return { key: { kind: 'paste', text: pasted }, length: end + PASTE_END.length }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with one
const SEQUENCE = /^\u001b(?:\[([\d;]*)([A-Za-z~])|O([A-Z])|([^[O\u001b]))/

function readSequence(text: string): FoundKey | null {
  const match = SEQUENCE.exec(text)
  if (match === null) {
    // Escape by itself, or the start of a sequence.
    return /^.(?:\[[\d;]*|O)?$/s.test(text) ? null : { key: null, length: 1 }
  }
  const [whole, numbers = '', letter = '', application, meta] = match
  const { length } = whole
  if (meta !== undefined) {
    const inner = CONTROLS[meta]
    if (inner?.kind === 'key') return { key: { ...inner, alt: true }, length }
    return { key: named(meta.toLowerCase(), { alt: true }), length }
  }
  if (application !== undefined) return { key: letterKey(application, 0), length }
  const [first = 1, second = 1, third = 0] = numbers.split(';').map((digits) => Number(digits || 1))
  // `CSI code ; modifiers u` (kitty), `CSI 27 ; modifiers ; code ~` (xterm).
  if (letter === 'u') return { key: codeKey(first, second - 1), length }
  if (letter === '~' && first === 27) return { key: codeKey(third, second - 1), length }
  if (letter === '~') return { key: withModifiers(TILDES[first], second - 1), length }
  return { key: letterKey(letter, second - 1), length }
}

function codeKey(code: number, modifiers: number): Key | null {
  const character = String.fromCodePoint(Math.min(code, 0x10ffff))
  const control = CONTROLS[character]
  if (control?.kind === 'key') return withModifiers(control.name, modifiers)
  if ((modifiers & ~SHIFT) === 0) return { kind: 'text', text: character }
  return withModifiers(character.toLowerCase(), modifiers)
}

function letterKey(letter: string, modifiers: number): Key | null {
  return withModifiers(LETTERS[letter], modifiers)
}

const SHIFT = 1
const ALT = 2
const CTRL = 4

function withModifiers(name: string | undefined, modifiers: number): Key | null {
  if (name === undefined) return null
  return named(name, {
    shift: (modifiers & SHIFT) !== 0,
    alt: (modifiers & ALT) !== 0,
    ctrl: (modifiers & CTRL) !== 0,
  })
}

function named(
  name: string,
  modifiers: { ctrl?: boolean; alt?: boolean; shift?: boolean } = {},
): Key {
  return { kind: 'key', name, ctrl: false, alt: false, shift: false, ...modifiers }
}

const LETTERS: Readonly<Record<string, string>> = {
  ...{ A: 'up', B: 'down', C: 'right', D: 'left', H: 'home', F: 'end' },
}

const TILDES: Readonly<Record<number, string>> = {
  ...{ 1: 'home', 3: 'delete', 4: 'end', 7: 'home', 8: 'end' },
}

const CONTROLS: Readonly<Record<string, Key>> = {
  '\r': named('enter'),
  '\t': named('tab'),
  '\u007f': named('backspace'),
  '\b': named('backspace'),
  ...Object.fromEntries(
    [...'abcdefgjklnopqrstuvwxyz'].map((letter) => [
      String.fromCharCode(letter.charCodeAt(0) - 96),
      named(letter, { ctrl: true }),
    ]),
  ),
}
