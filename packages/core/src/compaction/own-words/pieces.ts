import { findBulk, type TextSpan } from './bulk.ts'
import { findHostBlocks } from './host-blocks.ts'

/**
 * What a user's message is made of. Programs put blocks of their own into it (reminders, the
 * environment, lists of tools and skills), and people paste logs and files. Only the rest is what
 * the person wrote, and that is the last to be cut.
 */
export interface Piece {
  readonly kind: 'own' | 'host' | 'bulk'
  /** What kind of host block it is, by its tag or label. */
  readonly name?: string
  readonly text: string
}

/** In order; joined they are the text again. */
export function piecesOf(text: string): readonly Piece[] {
  return cut(text, findHostBlocks(text), 'host').flatMap((piece) =>
    piece.kind === 'own' ? cut(piece.text, findBulk(piece.text), 'bulk') : [piece],
  )
}

/** Without what programs put in; pasted bulk stays. */
export function withoutHostBlocks(text: string): string {
  const blocks = findHostBlocks(text)
  return blocks.length === 0 ? text : join(cut(text, blocks, 'host'))
}

/** What the person wrote, without host blocks and bulk. */
export function ownWords(text: string): string {
  return join(piecesOf(text))
}

/**
 * Shortened by what is not the person's own: host blocks go, and bulk keeps as much of its two ends
 * as there is room beside the own words. Those stay whole, also where they alone are too long.
 */
export function shortenBulk(
  text: string,
  charactersMax: number,
  note: (characters: number) => string,
): string {
  const pieces = piecesOf(text).filter(({ kind }) => kind !== 'host')
  const bulks = pieces.filter(({ kind }) => kind === 'bulk').length
  const own = pieces.reduce((sum, piece) => sum + (piece.kind === 'own' ? piece.text.length : 0), 0)
  const room = charactersMax - own - bulks * (note(text.length).length + 2)
  const end = Math.max(0, Math.floor(room / (2 * Math.max(1, bulks))))
  return pieces
    .map(({ kind, text: piece }) => {
      if (kind === 'own' || piece.length <= 2 * end) return piece
      const [first, last] = [piece.slice(0, end), piece.slice(piece.length - end)]
      return `${first}\n${note(piece.length - 2 * end)}\n${last}`.toWellFormed()
    })
    .join('')
    .trim()
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
