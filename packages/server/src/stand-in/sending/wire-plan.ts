import type { CutEnding, Fault } from '../faults.ts'
import type { Frame } from '../protocols/protocol.ts'

/** How an answer is sent: which bytes, how fast, and how it ends. */
export interface WirePlan {
  readonly pieces: readonly WirePiece[]
  readonly ending: CutEnding | 'silence'
  /** One byte at a time, this far apart. */
  readonly byteMs?: number
}

export interface WirePiece {
  readonly bytes: Buffer
  readonly tokens: number
}

export function planWire(frames: readonly Frame[], fault: Fault | undefined): WirePlan {
  const [only] = frames
  const isDocument = only !== undefined && frames.length === 1
  const pieces = isDocument ? halvesOf(only) : frames.map(pieceOf)
  switch (fault?.kind) {
    case 'stall-after-headers':
      return { pieces: [], ending: 'silence' }
    case 'stall-mid-stream':
      return { pieces: pieces.slice(0, shareOf(pieces, fault)), ending: 'silence' }
    case 'drip':
      return { pieces, ending: 'clean', byteMs: fault.ms }
    case 'cut-stream':
      return { pieces: pieces.slice(0, shareOf(pieces, fault)), ending: fault.how }
    case 'cut-json': {
      const share = shareOf(pieces, fault)
      const torn = pieces[share]
      const half = torn === undefined ? [] : [{ ...torn, bytes: halfOf(torn.bytes) }]
      return { pieces: [...pieces.slice(0, share), ...half], ending: fault.how }
    }
    case 'cut-utf8':
      return { pieces: cutCharacter(pieces), ending: fault.how }
    case 'unparsable-line': {
      if (isDocument) return { pieces: pieces.slice(0, 1), ending: 'clean' }
      const line = { bytes: Buffer.from('data: {"torn":\n\n'), tokens: 0 }
      return { pieces: pieces.toSpliced(shareOf(pieces, fault), 0, line), ending: 'clean' }
    }
    default:
      return { pieces, ending: 'clean' }
  }
}

function pieceOf({ text, tokens }: Frame): WirePiece {
  return { bytes: Buffer.from(text), tokens }
}

/** Splits a document in two, so that a fault can come between the halves. */
function halvesOf({ text, tokens }: Frame): readonly WirePiece[] {
  const bytes = Buffer.from(text)
  const half = halfOf(bytes)
  return [
    { bytes: half, tokens },
    { bytes: bytes.subarray(half.length), tokens: 0 },
  ]
}

/** At least the last piece stays unsent, because it marks the answer as complete. */
function shareOf(pieces: readonly WirePiece[], { after }: Fault): number {
  return Math.min(Math.floor(pieces.length * after), pieces.length - 1)
}

function halfOf(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.ceil(bytes.length / 2))
}

/** Everything up to the first byte of the first multi-byte character. */
function cutCharacter(pieces: readonly WirePiece[]): readonly WirePiece[] {
  for (const [index, piece] of pieces.entries()) {
    const at = piece.bytes.findIndex((byte) => byte >= 0xc0)
    if (at === -1) continue
    return [...pieces.slice(0, index), { ...piece, bytes: piece.bytes.subarray(0, at + 1) }]
  }
  return pieces.slice(0, -1)
}
