import { findBulk, type TextSpan } from './bulk.ts'
import { findHostBlocks } from './host-blocks.ts'

/**
 * The pieces of a user message. Programs insert blocks (reminders, the environment, lists of tools
 * and skills), and people paste logs and files. The rest is what the person wrote; it is cut last.
 */
export interface Piece {
  readonly kind: 'own' | 'host' | 'bulk'
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
  return join(piecesOf(text))
}

/**
 * What a person says in fewer characters than this is kept before anything longer: whatever else a
 * message holds, its short sentences are the ones that carry requests, decisions and names.
 */
const SENTENCE_CHARACTERS = 200

/**
 * Shortens a message in this order: host blocks are removed, then both ends of the bulk are kept as
 * far as they fit, then both ends of long sentences. Short sentences stay whole, even if they alone
 * are too long. Returns a function of the size, so that several can be tried.
 */
export function shortener(
  text: string,
  note: (characters: number) => string,
): (charactersMax: number) => string {
  const pieces = piecesOf(text).flatMap(({ kind, text: piece }): ShortPiece[] => {
    if (kind === 'host') return []
    return kind === 'bulk' ? [{ kind, text: piece }] : sentencesIn(piece)
  })
  const sizeOf = (kind: ShortPiece['kind']) =>
    pieces.reduce((sum, piece) => sum + (piece.kind === kind ? piece.text.length : 0), 0)
  const countOf = (kind: ShortPiece['kind']) => pieces.filter((piece) => piece.kind === kind).length
  const [own, long, longs, bulks] = [
    sizeOf('own'),
    sizeOf('long'),
    countOf('long'),
    countOf('bulk'),
  ]
  const noteSize = note(text.length).length + 2
  const endOf = (room: number, count: number) =>
    Math.max(0, Math.floor(room / (2 * Math.max(1, count))))
  return (charactersMax) => {
    const room = charactersMax - own - bulks * noteSize
    const bulkEnd = endOf(room - long, bulks)
    const longEnd = room >= long ? Number.POSITIVE_INFINITY : endOf(room - longs * noteSize, longs)
    const shorten = ({ kind, text: piece }: ShortPiece) => {
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

interface ShortPiece {
  readonly kind: 'own' | 'long' | 'bulk'
  readonly text: string
}

/** Joined they are the text again. */
function sentencesIn(text: string): ShortPiece[] {
  return text.split(/(?<=[.!?…。！？])(?=\s)|(?<=\n)/u).map((sentence) => ({
    kind: sentence.trim().length < SENTENCE_CHARACTERS ? 'own' : 'long',
    text: sentence,
  }))
}

function join(pieces: readonly Piece[]): string {
  return pieces
    .filter(({ kind }) => kind === 'own')
    .map(({ text }) => text.trim())
    .filter((text) => text !== '')
    .join('\n')
}

function cut(text: string, stretches: readonly TextSpan[], kind: 'host' | 'bulk'): Piece[] {
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
