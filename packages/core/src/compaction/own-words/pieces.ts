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
 * Shortens everything but the person's own words: removes host blocks, and keeps as much of both
 * ends of the bulk as fits. The person's words stay whole, even if they alone are too long.
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
