import { type Posting, passagesOfPosting, rootBytes } from './lists.ts'

/**
 * Compares the postings of an index with those of the texts, in any order and in eight bytes for each
 * session: hashes of the postings are added, those of the texts subtracted. A session differs if its
 * sums are not zero. Of random changes that keep the count, one in 2^32 goes unnoticed.
 */
export class PostingSums {
  readonly #counts: Int32Array
  readonly #hashes: Int32Array

  constructor(sessions: number) {
    const size = Math.min(Math.max(1, sessions), SESSIONS_MAX)
    this.#counts = new Int32Array(size)
    this.#hashes = new Int32Array(size)
  }

  addPosting(posting: Posting): void {
    const hash = hashOf(posting.root)
    for (const passage of passagesOfPosting(posting)) this.#add(posting.session, hash, passage, 1)
  }

  takePassage(session: number, roots: Iterable<string>, passage: number): void {
    for (const root of roots) this.#add(session, hashOf(rootBytes(root)), passage, -1)
  }

  /** Marks a session that differs for another reason. */
  mark(session: number): void {
    this.#add(session, 1, 0, 1)
  }

  /** How many sessions differ. Beyond `SESSIONS_MAX`, several are counted as one. */
  get different(): number {
    return this.#counts.reduce(
      (sum, count, at) => sum + (count !== 0 || this.#hashes[at] !== 0 ? 1 : 0),
      0,
    )
  }

  #add(session: number, hash: number, passage: number, sign: 1 | -1): void {
    const at = session % this.#counts.length
    this.#counts[at] = (this.#counts[at] as number) + sign
    this.#hashes[at] = (this.#hashes[at] as number) + sign * mixed(hash, session, passage)
  }
}

/** Sums of more sessions share their bytes. */
const SESSIONS_MAX = 2 ** 20

/** FNV-1a. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash
}

/** The sums of similar numbers must differ, so every bit of the input changes half of the result. */
function mixed(hash: number, session: number, passage: number): number {
  return scrambled(scrambled(scrambled(hash) ^ passage) ^ session)
}

function scrambled(value: number): number {
  let bits = value
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}
