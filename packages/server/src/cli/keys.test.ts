import { expect, it } from 'vitest'
import { edit, type InputDraft, layOutDraft } from './terminal/editor.ts'
import { KeyReader } from './terminal/keys.ts'

const ESCAPE = '\u001b'
const CONTROLS = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code))
const LETTERS = [...'ABCDEFGHZ']

/** What terminals send: control characters, and sequences with and without modifiers. */
const SENT = [
  ...CONTROLS,
  ...['\u007f', '\u0080', 'a', 'ä日', `${ESCAPE}x`, `${ESCAPE}B`, `${ESCAPE}\r`, `${ESCAPE}\u007f`],
  ...LETTERS.map((letter) => `${ESCAPE}[${letter}`),
  ...LETTERS.map((letter) => `${ESCAPE}O${letter}`),
  ...[2, 3, 4, 5, 6, 8, 9].map((modifiers) => `${ESCAPE}[1;${modifiers}D`),
  ...[1, 2, 3, 4, 5, 7, 8, 9].map((number) => `${ESCAPE}[${number}~`),
  ...['3;5~', '27;2;13~', '27;5;97~', '27;1;97~', '27~'].map((rest) => `${ESCAPE}[${rest}`),
  ...['13;2u', '97;5u', '65;2u', '97u', '1114111u', '9999999u', '127u', 'u'].map(
    (r) => `${ESCAPE}[${r}`,
  ),
  ...[
    `${ESCAPE}[200~a\r\nb\rc\u0000\t${ESCAPE}[201~d`,
    `${ESCAPE}[200~a`,
    `${ESCAPE}[`,
    `${ESCAPE}O`,
  ],
  ...[ESCAPE, `${ESCAPE}[1;`, `${ESCAPE}[1;?a`, `a${ESCAPE}[Db\rc`],
]

it('reads these keys from what terminals send, whole and in pieces', () => {
  const lines = SENT.map((sent) => {
    const whole = new KeyReader()
    const pieces = new KeyReader()
    const keys = whole.read(sent)
    const typed = [...sent].flatMap((piece) => pieces.read(piece))
    return JSON.stringify([
      sent,
      keys,
      JSON.stringify(typed) === JSON.stringify(keys) ? '=' : typed,
    ])
  })
  expect(lines.join('\n')).toMatchSnapshot()
})

const DRAFTS: readonly InputDraft[] = [
  { text: '', cursor: 0 },
  { text: 'one two  three', cursor: 7 },
  { text: 'one\ntwo words\n\nfour', cursor: 9 },
  { text: 'ends\\', cursor: 5 },
  { text: '日本 👩‍👩‍👧 x', cursor: 3 },
] as readonly InputDraft[]

it('changes drafts by each of them', () => {
  const lines = DRAFTS.flatMap((draft) =>
    SENT.flatMap((sent) => {
      const keys = new KeyReader().read(sent)
      const [first] = keys
      if (keys.length !== 1 || first === undefined) return []
      return [JSON.stringify([draft.text, draft.cursor, sent, edit(draft, first)])]
    }),
  )
  expect(lines.join('\n')).toMatchSnapshot()
})

it('lays drafts out in narrow and wide terminals', () => {
  const lines = DRAFTS.flatMap((draft) =>
    [4, 8, 80].map((columns) => JSON.stringify([columns, draft, layOutDraft(draft, columns)])),
  )
  expect(lines.join('\n')).toMatchSnapshot()
})
