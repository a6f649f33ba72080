import { type EntryNumber, entryNumber } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import { FOLDED_KINDS, FOLDED_NAMES, fold } from '../fold.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import { checkEntry, ENTRY_DAMAGE, firstHash } from '../integrity/chain.ts'
import type { StoreFinding } from '../queries.ts'
import type { Entry, EntryHead, SessionRow } from '../tables/rows.ts'

/** The end of what a fork reads from other sessions, which its own entries continue. */
export interface Prefix {
  /** Heads of the folded kinds. */
  readonly folded: readonly EntryHead[]
  /** The hash of the last entry; null if it is missing. */
  readonly hash: string | null
}

/**
 * Checks one transcript for consistency and against its session row. Add entries by number, in
 * pages of any size, so that a long session need not fit in memory.
 */
export class TranscriptCheck {
  readonly #session: SessionRow
  readonly #findings: StoreFinding[] = []
  readonly #folded: EntryHead[] = []
  #number = 0
  /** Null after an unreadable entry, because the expected hash is then unknown. */
  #hash: string | null

  constructor(session: SessionRow, prefix?: Prefix) {
    this.#session = session
    this.#hash = firstHash(session.root ?? session.id)
    if (prefix === undefined) return
    this.#number = session.forkedAt
    this.#hash = prefix.hash
    this.#folded.push(...prefix.folded)
    if (prefix.hash === null) {
      this.#find(session.forkedAt, `of session ${session.origin} is missing: this is a fork of it`)
    }
  }

  add(entry: Entry): void {
    // An entry after a missing one cannot be chained to it; its own hash is still checked.
    const isNext = this.#findGap(entry.number)
    const prevHash = isNext && this.#hash !== null ? this.#hash : entry.prevHash
    const damage = checkEntry(prevHash, entry)
    if (damage !== undefined) this.#find(entry.number, ENTRY_DAMAGE[damage])
    if ((FOLDED_KINDS as readonly string[]).includes(entry.kind)) this.#folded.push(entry)
    this.#number = entry.number
    this.#hash = entry.hash
  }

  /** The entry is damaged beyond reading. */
  addUnreadable(number: EntryNumber): void {
    if (number > this.#session.tail) return
    this.#findGap(number)
    this.#find(number, 'cannot be read')
    this.#number = number
    this.#hash = null
  }

  #findGap(number: EntryNumber): boolean {
    const expected = this.#number + 1
    if (number === expected) return true
    if (number < expected) {
      this.#find(number, `comes after entry ${this.#number}`)
      return false
    }
    const many = number - expected
    this.#find(
      entryNumber(expected),
      many === 1 ? 'is missing' : `and ${many - 1} more are missing`,
    )
    return false
  }

  end(): readonly StoreFinding[] {
    const { tail, tailHash } = this.#session
    if (this.#number < tail) {
      const first = entryNumber(this.#number + 1)
      this.#find(first, `${first === tail ? 'is' : `to ${tail} are`} missing at the end`)
    } else if (this.#number > tail) {
      this.#find(entryNumber(tail + 1), 'is after the tail in the session row')
    } else if (this.#hash !== null && this.#hash !== tailHash) {
      this.#find(tail, 'has another hash than the session knows for its tail')
    }
    this.#checkFold()
    return this.#findings
  }

  #checkFold(): void {
    const folded = fold(this.#folded)
    const settings = this.#folded.findLast((head) => head.kind === 'settings')
    const { limits } = settings?.meta ?? {}
    if (limits !== undefined && !isSame(limits, this.#session.limits)) {
      this.#find(null, `session row has other limits than entry ${settings?.number} set`)
    }
    for (const name of FOLDED_NAMES) {
      if (folded[name] === this.#session[name]) continue
      this.#find(
        null,
        `session row says ${name} ${this.#session[name]}, entries say ${folded[name]}`,
      )
    }
    const pins = Object.keys(folded.pins).sort().join()
    if (this.#session.state === 'open' && pins !== Object.keys(this.#session.pins).sort().join()) {
      this.#find(null, 'session row and entries disagree on the pins')
    }
  }

  #find(entry: EntryNumber | null, what: string): void {
    const problem = entry === null ? what : `entry ${entry} ${what}`
    this.#findings.push({ sessionId: this.#session.id, entry, problem })
  }
}

export function checkTranscript(
  session: SessionRow,
  entries: readonly Entry[],
): readonly StoreFinding[] {
  const misplaced = entries.findIndex(({ number }, index) => number !== index + 1)
  if (misplaced >= 0 && entries.some(({ number }) => number === misplaced + 1)) {
    const problem = `entry ${misplaced + 1} is not in its place: entry ${entries[misplaced]?.number} is there`
    return [{ sessionId: session.id, entry: entryNumber(misplaced + 1), problem }]
  }
  const check = new TranscriptCheck(session)
  for (const entry of entries) check.add(entry)
  return check.end()
}

function isSame(one: object, other: object): boolean {
  return canonicalJson({ ...one } as JsonObject) === canonicalJson({ ...other } as JsonObject)
}
