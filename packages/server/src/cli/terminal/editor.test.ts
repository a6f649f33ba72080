import { describe, expect, it } from 'vitest'
import { completeCommand, EMPTY_DRAFT, edit, type InputDraft, layOutDraft } from './editor.ts'
import { KeyReader } from './keys.ts'

const ESCAPE = '\u001b'

/** The sent messages and the remaining draft after a terminal sent these pieces. */
function play(...pieces: readonly string[]): {
  readonly sent: readonly string[]
  draft: InputDraft
} {
  const keys = new KeyReader()
  const sent: string[] = []
  let draft = EMPTY_DRAFT
  for (const key of pieces.flatMap((piece) => keys.read(piece))) {
    const edited = edit(draft, key)
    if (edited.kind === 'draft') draft = edited.draft
    else if (edited.kind === 'submit') {
      sent.push(edited.text)
      draft = EMPTY_DRAFT
    }
  }
  return { sent, draft }
}

describe('a message in the terminal', () => {
  it('is one message when several lines are pasted, even in pieces', () => {
    const paste = `${ESCAPE}[200~one\r\ntwo\r\tthree\u0007\n${ESCAPE}[201~`
    expect(play(paste, '\r').sent).toEqual(['one\ntwo\n\tthree\n'])
    expect(play(...paste, '\r').sent).toEqual(['one\ntwo\n\tthree\n'])
  })

  it.each([
    ['Ctrl-J', '\n'],
    ['Shift+Enter of kitty', `${ESCAPE}[13;2u`],
    ['Shift+Enter of xterm and tmux', `${ESCAPE}[27;2;13~`],
    ['Alt+Enter', `${ESCAPE}\r`],
    ['a backslash and Enter', '\\\r'],
  ])('gets a new line from %s', (_name, keys) => {
    expect(play(`a${keys}b\r`).sent).toEqual(['a\nb'])
    expect(play(...`a${keys}b`, '\r').sent).toEqual(['a\nb'])
  })

  it('is edited with the usual keys', () => {
    const [left, up, home] = ['D', 'A', 'H'].map((letter) => `${ESCAPE}[${letter}`)
    expect(play(`ac${left}b`).draft).toEqual({ text: 'abc', cursor: 2 })
    expect(play(`two words\u0017three`).draft.text).toBe('two three')
    expect(play(`one\ntwo${up}${home}X`).draft).toEqual({ text: 'Xone\ntwo', cursor: 1 })
    expect(play('a\u{1f468}\u200d\u{1f469}\u007f').draft.text).toBe('a')
    expect(play(`keep${ESCAPE}[99;5u`).draft.text).toBe('keep') // Ctrl-C of kitty is no text
  })

  it('moves by the same keys in every spelling that terminals have for them', () => {
    const [word, line] = ['one two', 'one\ntwo']
    const [plain] = new KeyReader().read(`${ESCAPE}[D`)
    for (const left of ['[D', 'OD', '[1;D', '[;D', '[1;1D']) {
      expect(new KeyReader().read(`${ESCAPE}${left}`), left).toEqual([plain])
      expect(play(`${word}${ESCAPE}${left}`).draft.cursor, left).toBe(6)
    }
    for (const home of ['[H', 'OH', '[1~', '[7~', '[;H']) {
      expect(play(`${line}${ESCAPE}${home}`).draft.cursor, home).toBe(4)
    }
    for (const back of ['b', '[1;3D', '[1;5D']) {
      expect(play(`${word}${ESCAPE}${back}`).draft.cursor, back).toBe(4)
    }
  })
})

describe('completeCommand', () => {
  const complete = (text: string) =>
    completeCommand({ text, cursor: text.length }, ['stop', 'status', 'search', 'compact'])

  it('completes a unique name, or the common prefix', () => {
    expect(complete('/c').draft.text).toBe('/compact ')
    expect(complete('/st')).toMatchObject({ draft: { text: '/st' }, choices: ['/stop', '/status'] })
    expect(complete('/s').choices).toHaveLength(3)
    const draft = { text: '/s', cursor: 2 }
    expect(completeCommand(draft, ['status', 'stash']).draft).toEqual({ text: '/sta', cursor: 4 })
    expect(completeCommand(draft, ['stat', 'status']).draft).toEqual({ text: '/stat', cursor: 5 })
    expect(complete('/x').choices).toEqual([])
    expect(complete('hello').draft.text).toBe('hello')
  })
})

describe('layOutDraft', () => {
  it('computes the row and column of the cursor, with wide characters', () => {
    expect(layOutDraft({ text: 'abc\n\u6f22\u5b57', cursor: 5 }, 40)).toEqual({
      rows: ['> abc', '  \u6f22\u5b57'],
      cursor: { row: 1, column: 4 },
    })
    expect(layOutDraft({ text: 'abcdef', cursor: 6 }, 8)).toEqual({
      rows: ['> abcdef', '  '],
      cursor: { row: 1, column: 2 },
    })
  })

  it('draws a tab as spaces', () => {
    expect(layOutDraft({ text: 'a\tb', cursor: 2 }, 40)).toEqual({
      rows: ['> a    b'],
      cursor: { row: 0, column: 7 },
    })
  })
})

describe('a key in the terminal', () => {
  const key = (name: string, held: 'ctrl' | 'alt' | '' = '') => ({
    ...{ kind: 'key' as const, name, shift: false, ctrl: held === 'ctrl', alt: held === 'alt' },
  })
  /** The draft after the key; `|` is the cursor. */
  const after = (drawn: string, ...pressed: Parameters<typeof key>) => {
    const cursor = drawn.indexOf('|')
    const edited = edit({ text: drawn.replace('|', ''), cursor }, key(...pressed) as never)
    if (edited.kind !== 'draft') return edited
    const { text, cursor: at } = edited.draft
    return `${text.slice(0, at)}|${text.slice(at)}`
  }
  const family = '\u{1f468}\u200d\u{1f469}'

  it.each<[string, 'ctrl' | 'alt' | '', string, string]>([
    ['delete', '', `a|${family}b`, 'a|b'],
    ['delete', '', 'ab|', 'ab|'],
    ['backspace', '', `a${family}|b`, 'a|b'],
    ['right', '', `a|${family}b`, `a${family}|b`],
    ['left', '', `a${family}|b`, `a|${family}b`],
    ['end', '', 'o|ne\ntwo', 'one|\ntwo'],
    ['end', '', 'one\nt|wo', 'one\ntwo|'],
    ['home', '', 'one\ntw|o', 'one\n|two'],
    ['down', '', 'on|e\ntwo\nx', 'one\ntw|o\nx'],
    ['down', '', 'one\ntwo|\nx\nyyy', 'one\ntwo\nx|\nyyy'],
    ['up', '', 'x\ntwo|\nx', 'x|\ntwo\nx'],
    ['up', '', 'one\nt|wo', 'o|ne\ntwo'],
    ['f5', '', 'on|e', 'on|e'],
    ['d', 'ctrl', 'a|bc', 'a|c'],
    ['a', 'ctrl', 'one\ntw|o', 'one\n|two'],
    ['e', 'ctrl', 'o|ne\ntwo', 'one|\ntwo'],
    ['b', 'ctrl', 'ab|', 'a|b'],
    ['f', 'ctrl', '|ab', 'a|b'],
    ['n', 'ctrl', 'o|ne\ntwo', 'one\nt|wo'],
    ['p', 'ctrl', 'one\nt|wo', 'o|ne\ntwo'],
    ['k', 'ctrl', 'o|ne\ntwo', 'o|\ntwo'],
    ['u', 'ctrl', 'one\ntw|o', 'one\n|o'],
    ['w', 'ctrl', 'one two  |x', 'one |x'],
    ['backspace', 'ctrl', 'one two|', 'one |'],
    ['left', 'ctrl', 'one two|', 'one |two'],
    ['right', 'ctrl', 'one| two x', 'one two| x'],
    ['x', 'ctrl', 'o|ne', 'o|ne'],
    ['b', 'alt', 'one two|', 'one |two'],
    ['left', 'alt', 'one two|', 'one |two'],
    ['f', 'alt', '|one two', 'one| two'],
    ['right', 'alt', 'one|  two', 'one  two|'],
    ['backspace', 'alt', 'one two|', 'one |'],
    ['d', 'alt', '|one two', '| two'],
    ['x', 'alt', 'o|ne', 'o|ne'],
  ])('%s with %j makes of %j %j', (name, held, before, expected) => {
    expect(after(before, name, held)).toBe(expected)
  })

  it.each<[string, 'ctrl' | 'alt' | '', string, object]>([
    ['up', '', 'on|e', { kind: 'history', step: -1 }],
    ['down', '', 'on|e', { kind: 'history', step: 1 }],
    ['tab', '', '/|', { kind: 'complete' }],
    ['l', 'ctrl', 'o|ne', { kind: 'redraw' }],
    ['c', 'ctrl', 'o|ne', { kind: 'interrupt' }],
    ['d', 'ctrl', '|', { kind: 'leave' }],
    ['enter', '', 'o|ne\\', { kind: 'submit', text: 'one\\' }],
  ])('%s with %j on %j is a request', (name, held, before, expected) => {
    expect(after(before, name, held)).toEqual(expected)
  })
})
