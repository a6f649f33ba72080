import { open } from 'node:fs/promises'

/**
 * Whether a write-ahead log ends in the middle of a commit. SQLite silently returns to the last
 * complete commit and ignores the frames after it. A frame of an earlier cycle has another salt and
 * is not a loss.
 */
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

export interface WalEnd {
  /** Frames, or the beginning of one, after the last complete commit. */
  readonly lostFrames: number
}

export async function readWalEnd(path: string): Promise<WalEnd> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const header = Buffer.alloc(HEADER_BYTES)
    if (size < HEADER_BYTES) return { lostFrames: size > 0 ? 1 : 0 }
    await file.read(header, 0, HEADER_BYTES, 0)
    const pageBytes = header.readUInt32BE(8)
    if (pageBytes < 512 || pageBytes > 65_536) return { lostFrames: 0 }
    const frameBytes = FRAME_HEADER_BYTES + pageBytes
    const sums = new Checksum(header.readUInt32BE(0) % 2 === 1)
    sums.add(header.subarray(0, 24))
    const frame = Buffer.alloc(frameBytes)
    let lost = 0
    for (let at = HEADER_BYTES; at < size; at += frameBytes) {
      const { bytesRead } = await file.read(frame, 0, frameBytes, at)
      const isOurs = bytesRead < 16 || frame.subarray(8, 16).equals(header.subarray(16, 24))
      if (!isOurs) break
      lost += 1
      if (bytesRead < frameBytes) break
      sums.add(frame.subarray(0, 8))
      sums.add(frame.subarray(FRAME_HEADER_BYTES))
      if (!sums.fits(frame.subarray(16, 24))) break
      // The database size after a commit; zero for the other frames.
      if (frame.readUInt32BE(4) > 0) lost = 0
    }
    return { lostFrames: lost }
  } finally {
    await file.close()
  }
}

/** SQLite's checksum over pairs of words, in the byte order that the log names. */
class Checksum {
  readonly #isBig: boolean
  #one = 0
  #other = 0

  constructor(isBig: boolean) {
    this.#isBig = isBig
  }

  add(bytes: Buffer): void {
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      this.#one = (this.#one + this.#word(bytes, at) + this.#other) >>> 0
      this.#other = (this.#other + this.#word(bytes, at + 4) + this.#one) >>> 0
    }
  }

  fits(sums: Buffer): boolean {
    return sums.readUInt32BE(0) === this.#one && sums.readUInt32BE(4) === this.#other
  }

  #word(bytes: Buffer, at: number): number {
    return this.#isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)
  }
}
