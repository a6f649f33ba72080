import { ByteReader, ByteWriter, compareBytes, damagedIndexError } from './bytes.ts'

/**
 * The word index as bytes, the same on every engine. A posting is a root, a session, and the
 * ascending numbers of the session's passages that contain the root. Postings are sorted by the
 * bytes of their root, then by session, and packed into pages, which an engine stores as rows under
 * the key of the first one. So one session's passages are found by one lookup, and those of all
 * sessions are next to each other.
 *
 * root: shared with the root before, length, rest, size of its sessions; session: delta times four,
 * plus the number of its passages less 1 if these are up to three, else plus 3 and the number less
 * four behind it; then passage after passage as deltas.
 */
/** Two rows fill a page of SQLite, and PostgreSQL keeps a row in one piece. */
const PAGE_BYTES = 1_960
const ROOT_BYTES_MAX = 255
const SESSION_BYTES = 6

export interface Posting {
  readonly root: Uint8Array
  readonly session: number
  readonly count: number
  /** The passages as deltas, the first one counted from 0. */
  readonly list: Uint8Array
}

export interface ListPage {
  readonly key: Uint8Array
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()

/** Longer roots are truncated on every engine; real words are never this long. */
export function rootBytes(root: string): Uint8Array {
  return encoder.encode(root).subarray(0, ROOT_BYTES_MAX)
}

/** Where a posting is stored. No root contains a zero. */
export function keyOf(root: Uint8Array, session: number): Uint8Array {
  const key = new Uint8Array(root.length + 1 + SESSION_BYTES)
  key.set(root)
  let rest = session
  for (let at = key.length - 1; at > root.length; at--) {
    key[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return key
}

/** The keys of a root in all sessions; `to` is exclusive. */
export function keysOf(root: Uint8Array): { readonly from: Uint8Array; readonly to: Uint8Array } {
  return { from: Uint8Array.from([...root, 0]), to: Uint8Array.from([...root, 1]) }
}

export function postingOf(root: Uint8Array, session: number, passages: readonly number[]): Posting {
  const writer = new ByteWriter()
  let before = 0
  for (const passage of passages) {
    writer.putNumber(passage - before)
    before = passage
  }
  return { root, session, count: passages.length, list: writer.take() }
}

/** The roots of a page, each with the bytes of its sessions. */
export function* rootsOf(
  page: Uint8Array,
): Generator<{ readonly root: Uint8Array; readonly sessions: Uint8Array }> {
  const reader = new ByteReader(page)
  let before = new Uint8Array(0)
  while (!reader.isAtEnd) {
    const shared = reader.next()
    const length = reader.next()
    const root = new Uint8Array(shared + length)
    root.set(before.subarray(0, shared))
    root.set(reader.take(length), shared)
    const sessions = reader.take(reader.nextNumber())
    before = root
    yield { root, sessions }
  }
}

/** Reads the sessions of a root: `nextSession`, then the passages of each, as many as `count` says. */
export class SessionsReader extends ByteReader {
  session = 0
  count = 0

  nextSession(): boolean {
    if (this.isAtEnd) return false
    const number = this.nextNumber()
    const held = number % 4
    this.session += (number - held) / 4
    this.count = held < 3 ? held + 1 : this.nextNumber() + 4
    return true
  }
}

/** The sessions of a root, from their bytes. */
export function* sessionsIn(bytes: Uint8Array): Generator<number> {
  const reader = new SessionsReader(bytes)
  while (reader.nextSession()) {
    listAt(reader, reader.count)
    yield reader.session
  }
}

export function* postingsOf(page: Uint8Array): Generator<Posting> {
  for (const { root, sessions } of rootsOf(page)) {
    const reader = new SessionsReader(sessions)
    while (reader.nextSession()) {
      const { session, count } = reader
      yield { root, session, count, list: listAt(reader, count) }
    }
  }
}

function listAt(reader: ByteReader, count: number): Uint8Array {
  const { bytes, at: start } = reader
  if (count > bytes.length - start) throw damagedIndexError()
  let end = start
  // Long lists are most of an index: a call for each byte would take as long as reading them.
  for (let passage = 0; passage < count; passage++) while ((bytes[end++] as number) >= 128);
  if (end > bytes.length) throw damagedIndexError()
  reader.at = end
  return bytes.subarray(start, end)
}

/** Finds the sessions of a root in a page without decoding the others. */
export function findSessions(page: Uint8Array, root: Uint8Array): SessionsReader | null {
  const reader = new ByteReader(page)
  // How many bytes the wanted root shares with the one before.
  let matched = 0
  while (!reader.isAtEnd) {
    const shared = reader.next()
    const length = reader.next()
    const from = reader.at
    reader.at += length
    if (shared <= matched) {
      matched = shared
      while (
        matched < root.length &&
        matched - shared < length &&
        page[from + matched - shared] === root[matched]
      ) {
        matched++
      }
    }
    const size = reader.nextNumber()
    if (matched === root.length && shared + length === root.length) {
      return new SessionsReader(reader.take(size))
    }
    reader.at += size
  }
  return null
}

export function findPosting(page: Uint8Array, root: Uint8Array, session: number): Posting | null {
  const reader = findSessions(page, root)
  while (reader?.nextSession() === true && reader.session <= session) {
    const { count } = reader
    const list = listAt(reader, count)
    if (reader.session !== session) continue
    // A copy of a short list, so that the page need not stay in memory.
    const own = 2 * list.length < page.length ? list.slice() : list
    return { root, session, count, list: own }
  }
  return null
}

/** Writes the passages of a posting to `into` from `at` on; returns the end. */
export function readPassages({ list, count }: Posting, into: Uint32Array, at: number): number {
  let position = 0
  let passage = 0
  for (let index = at; index < at + count; index++) {
    let byte = list[position++] as number
    passage += byte & 127
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = list[position++] as number
      passage += (byte & 127) * scale
    }
    into[index] = passage
  }
  if (position !== list.length) throw damagedIndexError()
  return at + count
}

export function passagesOfPosting(posting: Posting): Uint32Array {
  const passages = new Uint32Array(posting.count)
  readPassages(posting, passages, 0)
  return passages
}

/** Packs sorted postings into pages. */
export class PageWriter {
  readonly pages: ListPage[] = []
  readonly #page = new ByteWriter()
  readonly #sessions = new ByteWriter()
  #key: Uint8Array | null = null
  /** The root before in the page, and the one whose sessions are being written. */
  #before = new Uint8Array(0)
  #root: Uint8Array | null = null
  #ended: Uint8Array | null = null
  #session = 0

  add({ root, session, count, list }: Posting): void {
    if (this.#root !== null && compareBytes(this.#root, root) !== 0) this.#endRoot()
    const size = this.#page.length + this.#sessions.length + root.length + list.length
    if (this.#key !== null && size > PAGE_BYTES) this.end()
    // Only the first page may begin with a root that an earlier page of its run has, too.
    const isFirst = this.pages.length === 0 || this.#isWithinRoot(root)
    this.#key ??= isFirst ? keyOf(root, session) : keysOf(root).from
    if (this.#root === null) [this.#root, this.#session] = [root, 0]
    const writer = this.#sessions
    writer.putNumber((session - this.#session) * 4 + Math.min(count - 1, 3))
    if (count > 3) writer.putNumber(count - 4)
    writer.putBytes(list)
    this.#session = session
  }

  #isWithinRoot(root: Uint8Array): boolean {
    return this.#ended !== null && compareBytes(this.#ended, root) === 0
  }

  #endRoot(): void {
    const root = this.#root
    if (root === null) return
    const before = this.#before
    let shared = 0
    while (shared < root.length && root[shared] === before[shared]) shared++
    this.#page.put(shared)
    this.#page.put(root.length - shared)
    this.#page.putBytes(root.subarray(shared))
    this.#page.putNumber(this.#sessions.length)
    this.#page.putBytes(this.#sessions.take())
    this.#before = Uint8Array.from(root)
    this.#ended = root
    this.#root = null
  }

  end(): readonly ListPage[] {
    this.#endRoot()
    if (this.#key !== null) {
      this.pages.push({ key: this.#key, bytes: this.#page.take() })
      this.#key = null
      this.#before = new Uint8Array(0)
    }
    return this.pages
  }
}

/** The passages of each root, by session. */
export type SessionLists = ReadonlyMap<number, ReadonlyMap<string, readonly number[]>>

/** Packs roots and their passages into pages. */
export function packLists(sessions: SessionLists): readonly ListPage[] {
  const postings = [...sessions].flatMap(([session, lists]) =>
    [...lists].map(([root, passages]) => postingOf(rootBytes(root), session, passages)),
  )
  postings.sort(comparePostings)
  const writer = new PageWriter()
  for (const posting of postings) writer.add(posting)
  return writer.end()
}

function comparePostings(a: Posting, b: Posting): number {
  return compareBytes(a.root, b.root) || a.session - b.session
}

/** One input of a merge: its first pages, and whether more follow. */
export interface MergeInput {
  readonly pages: readonly Uint8Array[]
  readonly isMore: boolean
}

/**
 * Merges the beginnings of runs, in the order of their passages, up to the last posting that every
 * input has reached. The caller writes the returned rest back into its run.
 */
export function mergePages(inputs: readonly MergeInput[]): {
  readonly merged: readonly ListPage[]
  readonly left: readonly (readonly ListPage[])[]
} {
  const postings = inputs.map(({ pages }) => pages.flatMap((page) => [...postingsOf(page)]))
  const bound = inputs.reduce<Posting | null>((least, { isMore }, index) => {
    const last = postings[index]?.at(-1)
    if (!isMore || last === undefined) return least
    return least === null || comparePostings(last, least) < 0 ? last : least
  }, null)
  const at = postings.map(() => 0)
  const writer = new PageWriter()
  for (;;) {
    let first: Posting | null = null
    for (const [index, list] of postings.entries()) {
      const posting = list[at[index] as number]
      if (posting && (first === null || comparePostings(posting, first) < 0)) first = posting
    }
    if (first === null || (bound !== null && comparePostings(first, bound) > 0)) break
    const parts: Posting[] = []
    for (const [index, list] of postings.entries()) {
      const posting = list[at[index] as number]
      if (posting === undefined || comparePostings(posting, first) !== 0) continue
      parts.push(posting)
      at[index] = (at[index] as number) + 1
    }
    writer.add(parts.length === 1 ? (parts[0] as Posting) : joined(first, parts))
  }
  const left = postings.map((list, index) => {
    const rest = new PageWriter()
    for (const posting of list.slice(at[index])) rest.add(posting)
    return rest.end()
  })
  return { merged: writer.end(), left }
}

/** Concatenates lists; only the first passage of each needs a new delta. */
function joined({ root, session }: Posting, parts: readonly Posting[]): Posting {
  const writer = new ByteWriter()
  let last = 0
  let count = 0
  for (const part of parts) {
    const reader = new ByteReader(part.list)
    let passage = reader.nextNumber()
    writer.putNumber(passage - last)
    writer.putBytes(part.list.subarray(reader.at))
    while (!reader.isAtEnd) passage += reader.nextNumber()
    last = passage
    count += part.count
  }
  return { root, session, count, list: writer.take() }
}

/** The page without some passages of a session; roots without passages are dropped. */
export function withoutPassages(
  page: Uint8Array,
  session: number,
  isErased: (passage: number) => boolean,
): readonly ListPage[] {
  const writer = new PageWriter()
  for (const posting of postingsOf(page)) {
    if (posting.session !== session) {
      writer.add(posting)
      continue
    }
    const passages = [...passagesOfPosting(posting)]
    const kept = passages.filter((passage) => !isErased(passage))
    if (kept.length === passages.length) writer.add(posting)
    else if (kept.length > 0) writer.add(postingOf(posting.root, session, kept))
  }
  return writer.end()
}
