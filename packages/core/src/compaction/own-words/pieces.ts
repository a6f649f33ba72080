import { findBulk, type TextSpan } from './bulk.ts'
import { findHostBlocks } from './host-blocks.ts'

/**
 * The pieces of a user message. Programs insert blocks (reminders, the environment, lists of tools
 * and skills), and people paste logs and files. The rest is what the person wrote; it is cut last.
 */
export interface Piece {
  readonly kind: 'own' | 'host' | 'bulk' | 'long'
  /** The kind of host block, by its tag or label. */
  readonly name?: string
  readonly text: string
}

/** In order; joined they are the text again. */
export function piecesOf(text: string): readonly Piece[] {
  return cut(text, findHostBlocks(text), 'host').flatMap((piece) =>
    piece.kind === 'own' ? cut(piece.text, findBulk(piece.text), 'bulk') : [piece],
  )
}

/** Without host blocks; pasted bulk stays. */
export function withoutHostBlocks(text: string): string {
  const blocks = findHostBlocks(text)
  return blocks.length === 0 ? text : join(cut(text, blocks, 'host'))
}

/** The person's own words, without host blocks and bulk. */
export function ownWords(text: string): string {
  const own = join(piecesOf(text))
  return isPlan(own) ? '' : own
}

/** Claude Code sends an accepted plan, which its model wrote, as a message of the user. */
export function isPlan(text: string): boolean {
  return (
    text.startsWith('Implement the following plan:') &&
    text.includes('\nIf you need specific details from before exiting plan mode')
  )
}

/**
 * Shortens a message in this order: host blocks are removed, then both ends of the bulk are kept as
 * far as they fit, then both ends of long sentences. Short sentences stay whole, even if they alone
 * are too long. Returns a function of the size, so that several can be tried.
 */
export function shortener(
  text: string,
  note: (characters: number) => string,
): (charactersMax: number) => string {
  const pieces = piecesOf(text).flatMap((piece): readonly Piece[] => {
    if (piece.kind === 'host') return []
    return piece.kind === 'own' ? cut(piece.text, findLongSentences(piece.text), 'long') : [piece]
  })
  const of = (wanted: Piece['kind']) => pieces.filter(({ kind }) => kind === wanted)
  const sizeOf = (list: readonly Piece[]) => list.reduce((sum, piece) => sum + piece.text.length, 0)
  const [own, long] = [sizeOf(of('own')), sizeOf(of('long'))]
  const noteSize = note(text.length).length + 2
  const endOf = (room: number, count: number) =>
    Math.max(0, Math.floor(room / (2 * Math.max(1, count))))
  const [longs, bulks] = [of('long').length, of('bulk').length]
  return (charactersMax) => {
    const room = charactersMax - own - bulks * noteSize
    const bulkEnd = endOf(room - long, bulks)
    const longEnd = room >= long ? Number.POSITIVE_INFINITY : endOf(room - longs * noteSize, longs)
    const shorten = ({ kind, text: piece }: Piece) => {
      const end = kind === 'bulk' ? bulkEnd : longEnd
      if (kind === 'own' || piece.length <= 2 * end) return piece
      const isMuch = kind === 'bulk' || piece.length > MUCH_CHARACTERS
      const left = isMuch ? `\n${note(piece.length - 2 * end)}\n` : ' […] '
      return `${piece.slice(0, end)}${left}${piece.slice(piece.length - end)}`.toWellFormed()
    }
    return pieces.map(shorten).join('').trim()
  }
}

/** What is left out of more than this gets a note with its size. */
const MUCH_CHARACTERS = 1_000

/**
 * What a person says in fewer characters than this is kept before anything longer: whatever else a
 * message holds, its short sentences are the ones that carry requests, decisions and names.
 */
const SENTENCE_CHARACTERS = 200

function findLongSentences(text: string): TextSpan[] {
  const spans: TextSpan[] = []
  let from = 0
  const close = (to: number) => {
    const isLong = to - from >= SENTENCE_CHARACTERS
    if (isLong && text.slice(from, to).trim().length >= SENTENCE_CHARACTERS) {
      spans.push({ from, to, name: 'long' })
    }
    from = to
  }
  for (const { index } of text.matchAll(/[.!?…。！？](?=\s)|\n/g)) close(index + 1)
  close(text.length)
  return spans
}

function join(pieces: readonly Piece[]): string {
  return pieces
    .filter(({ kind }) => kind === 'own')
    .map(({ text }) => text.trim())
    .filter((text) => text !== '')
    .join('\n')
}

function cut(text: string, stretches: readonly TextSpan[], kind: Piece['kind']): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (const { from, to, name } of stretches) {
    if (from > at) pieces.push({ kind: 'own', text: text.slice(at, from) })
    pieces.push({ kind, name, text: text.slice(from, to) })
    at = to
  }
  if (at < text.length) pieces.push({ kind: 'own', text: text.slice(at) })
  return pieces
}
