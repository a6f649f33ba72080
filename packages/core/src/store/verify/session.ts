import { type EntryNumber, entryNumber, type MailNumber, mailNumber } from '../../base/ids.ts'
import { DamagedRowError } from '../errors.ts'
import { hashBody } from '../integrity/chain.ts'
import { NOT_AS_WRITTEN } from '../integrity/damaged-row.ts'
import { mailState } from '../mail-state.ts'
import type { StoreFinding } from '../queries.ts'
import { hashKey, intakeHash } from '../rules/admit.ts'
import { type Entry, LANES, type MailRow, type SessionRow } from '../tables/rows.ts'
import { NO_ERASURE } from './erasures.ts'
import { type Prefix, TranscriptCheck } from './transcript.ts'

/** The store's record of an accepted key. */
export interface KeyMemory {
  readonly bodyHash: string
  /** Whether it names this item; an imported item may repeat a key that was already known. */
  readonly isOwn: boolean
}

/** The key that an item was admitted under; null if it was erased or never had one. */
export function keyHashOf({ source, key, body }: MailRow): string | null {
  return source === null || key === null || body === null ? null : hashKey(source, key)
}

/** How an item differs from the record of its key; null if it does not. */
export function judgeMemory(
  session: SessionRow,
  mail: MailRow,
  memory: KeyMemory | undefined,
): string | null {
  const { birth, state } = session
  if (mail.body === null && state === 'open' && mailState(session, mail) === 'pending') {
    return 'is waiting but has no body'
  }
  const keyHash = keyHashOf(mail)
  if (keyHash === null || mail.body === null) return null
  if (memory === undefined)
    return 'is not among the known keys: sent again, it would be taken twice'
  if (!memory.isOwn) {
    return birth === 'imported' ? null : 'came under a key that names another item'
  }
  const { lane, control, body } = mail
  return intakeHash(keyHash, lane, control, body) === memory.bodyHash
    ? null
    : 'has a body that does not match its hash'
}

/** Delivered mail must equal its entry, which the chain protects. */
export function judgeInput(
  input: Pick<Entry, 'number' | 'salt' | 'bodyHash'> | undefined,
  { body }: MailRow,
): string | null {
  if (input === undefined || input.salt === null || body === null) return null
  return hashBody(input.salt, body) === input.bodyHash
    ? null
    : `differs from entry ${input.number}, which it became`
}

/**
 * Checks all rows of one session against each other: the transcript, the mailbox, and the blobs
 * that both use. Add entries first, then mail, each by number, then blobs.
 */
export class SessionCheck {
  readonly #session: SessionRow
  readonly #transcript: TranscriptCheck
  readonly #findings: StoreFinding[] = []
  /** Blobs by hash, each with the first row that uses it. */
  readonly #used = new Map<string, { readonly entry: EntryNumber | null; readonly by: string }>()
  readonly #kept = new Set<string>()
  /** Delivered entries by mail number. */
  readonly #inputs = new Map<number, Pick<Entry, 'number' | 'salt' | 'bodyHash'>>()
  readonly #delivered = { user: 0, notification: 0 }
  readonly #pending = { control: 0, user: 0, notification: 0 }
  readonly #changed: string[] = []
  #mail = 0
  /** Entries and mail whose texts the end of a deletion must have erased. */
  #texts = 0
  /** False if mail is missing or unreadable: then the expected counts are not known. */
  #isMailWhole = true

  /** `prefix`: for a fork, the part that it reads from other sessions. */
  constructor(session: SessionRow, prefix?: Prefix) {
    this.#session = session
    this.#transcript = new TranscriptCheck(session, prefix)
  }

  addEntry(entry: Entry): void {
    this.#transcript.add(entry)
    const { number, meta } = entry
    // Up to here, entries name the mail of other sessions.
    if (entry.kind === 'input' && number > this.#session.forkedAt) {
      const { lane, mail } = entry.meta
      this.#delivered[lane] = Math.max(this.#delivered[lane], mail)
      if (mail > 0) this.#inputs.set(mail, { number, salt: entry.salt, bodyHash: entry.bodyHash })
    }
    if (entry.body !== null && 'blobs' in meta) this.#use(meta.blobs, number, `entry ${number}`)
    const { forkedAt, retained } = this.#session
    if (entry.body !== null && number > Math.max(forkedAt, retained)) this.#texts += 1
  }

  addUnreadableEntry(number: EntryNumber): void {
    this.#transcript.addUnreadable(number)
  }

  /** An entry without text, of this session or of one that it reads, and no record of its erasure. */
  addUnrecorded(number: number): void {
    this.#find(`entry ${number} ${NO_ERASURE}`, entryNumber(number))
  }

  addMail(mail: MailRow, memory: KeyMemory | undefined, isWhole: boolean): void {
    this.#expectMail(mail.number)
    if (mailState(this.#session, mail) === 'pending') {
      this.#pending[mail.lane] += 1
      // It counts as waiting, and is never found by those who look for what waits.
      if (mail.state !== 'admitted') this.#find(`mail ${mail.number} waits, its row says otherwise`)
    }
    if (mail.body !== null) this.#use(mail.blobs, null, `mail ${mail.number}`)
    const input = this.#inputs.get(mail.number)
    const changed = isWhole ? null : NOT_AS_WRITTEN
    const problem = judgeMemory(this.#session, mail, memory) ?? judgeInput(input, mail) ?? changed
    this.#inputs.delete(mail.number)
    if (mail.body !== null) this.#texts += 1
    if (problem !== null) this.#find(`mail ${mail.number} ${problem}`)
  }

  /** `isMarked`: those who look for sessions with work find it by a mark of its own. */
  addWork(isMarked: boolean): void {
    const { control, user, notification } = this.#session.pending
    const isRunning = this.#session.turnState === 'running'
    const hasWork = isRunning || control + user + notification > 0
    if (isMarked || !hasWork || this.#session.state !== 'open') return
    this.#find(
      `session row says that there is no work, but ${isRunning ? 'a turn runs' : 'mail waits'}`,
    )
  }

  /** A row of the session, or of what belongs to it, that was changed. */
  addChanged(row: string): void {
    this.#changed.push(`${row} ${NOT_AS_WRITTEN}`)
  }

  addUnreadableMail(number: MailNumber): void {
    this.#expectMail(number)
    this.#isMailWhole = false
    this.#find(`mail ${number} cannot be read`)
  }

  #expectMail(number: MailNumber): void {
    const expected = this.#mail + 1
    this.#mail = number
    if (number > expected) this.#missMail(expected, number - 1)
  }

  #missMail(from: number, to: number): void {
    this.#isMailWhole = false
    this.#find(from === to ? `mail ${from} is missing` : `mail ${from} to ${to} is missing`)
  }

  addBlob(hash: string, fits: boolean): void {
    this.#kept.add(hash)
    if (fits) return
    const use = this.#used.get(hash)
    const by = use === undefined ? '' : ` (${use.by} uses it)`
    this.#find(`blob ${hash} has bytes that do not match its hash${by}`, use?.entry)
  }

  #use(hashes: readonly string[], entry: EntryNumber | null, by: string): void {
    for (const hash of hashes) if (!this.#used.has(hash)) this.#used.set(hash, { entry, by })
  }

  end(): readonly StoreFinding[] {
    const transcript = this.#transcript.end()
    // A deleted session may have been imported without its mailbox. One that is being erased loses
    // its blobs before the texts that name them.
    if (this.#session.state !== 'gone') this.#endMail(transcript.length === 0)
    const { state, retained } = this.#session
    if (state === 'gone' && this.#texts > 0) this.#find(textsLeft(this.#texts))
    if (state === 'open' || (state === 'gone' && retained > 0)) this.#endBlobs()
    for (const problem of this.#changed) this.#find(problem)
    return [...transcript, ...this.#findings]
  }

  #endMail(isTranscriptWhole: boolean): void {
    const { mail, delivered, pending } = this.#session
    if (this.#mail < mail) this.#missMail(this.#mail + 1, mail)
    if (this.#mail > mail) {
      this.#find(`mail ${mailNumber(mail + 1)} stands behind the last one that the session knows`)
    }
    for (const lane of LANES) {
      const told = this.#pending[lane]
      if (this.#isMailWhole && told !== pending[lane]) {
        this.#find(`session row says that ${pending[lane]} of lane ${lane} wait, mail says ${told}`)
      }
    }
    for (const lane of ['user', 'notification'] as const) {
      const told = this.#delivered[lane]
      if (!isTranscriptWhole || told === delivered[lane]) continue
      this.#find(
        `session row says that lane ${lane} is delivered up to ${delivered[lane]}, entries say ${told}`,
      )
    }
  }

  #endBlobs(): void {
    for (const [hash, { entry, by }] of this.#used) {
      if (!this.#kept.has(hash)) this.#find(`${by} uses blob ${hash}, which is missing`, entry)
    }
  }

  #find(problem: string, entry: EntryNumber | null = null): void {
    this.#findings.push({ sessionId: this.#session.id, entry, problem })
  }
}

export function textsLeft(count: number): string {
  return `session row says state gone, but ${count} entries and messages still have their texts`
}

/** The finding for a damaged row, with the reason if known. */
export function unreadableSession(sessionId: SessionRow['id'], error: unknown): StoreFinding {
  const { column, problem } = error instanceof DamagedRowError ? error.facts : {}
  const why = column === undefined ? '' : `: its column ${column} ${problem}`
  return { sessionId, entry: null, problem: `session row cannot be read${why}` }
}
