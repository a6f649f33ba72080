import { createHash, randomUUID } from 'node:crypto'
import { entryNumber, mailNumber, operationId, type SessionId } from '../../base/ids.ts'
import { isObject, type JsonObject } from '../../base/json.ts'
import type { AdoptSession, ImportSessionOutcome } from '../commits.ts'
import type { Commits, Reads } from '../contract.ts'
import { DamagedRowError, StoreBusyError, UnknownSessionError } from '../errors.ts'
import type { MailItem } from '../queries.ts'
import type { Entry, MailRow, SessionRow } from '../tables/rows.ts'
import { IdentityCheck } from '../verify/audit.ts'
import {
  type CarriedBlob,
  type CarriedReply,
  type CarriedSession,
  readBlobRow,
  readEntryRow,
  readMailRow,
  readReplyRow,
  readSessionRow,
} from './validate-rows.ts'

/**
 * One session as JSON lines: a header, then entries, mail, waiting replies and blobs, then a
 * trailer with the number of lines and their hash. The trailer reveals a truncated file, and
 * changes that no chain covers, such as to waiting mail. Erased bodies stay erased.
 */
const FORMAT = 'throughline-session'
const VERSION = 1
const PAGE = 500
const CHANGED =
  'the lines before this are not the ones that were exported; if you changed them on purpose, take "sha256" out'

interface Header {
  readonly format: string
  readonly version: number
  readonly session: SessionRow
}

export async function* exportSession(store: Reads, id: SessionId): AsyncIterable<string> {
  const session = await readAuditedSession(store, id)
  let lines = 0
  const sum = createHash('sha256')
  const line = (value: unknown): string => {
    lines += 1
    const text = lineOf(value)
    sum.update(text)
    return `${text}\n`
  }
  yield line({ format: FORMAT, version: VERSION, session } satisfies Header)

  const blobs = new Set<string>()
  for (let from = 1; from <= session.tail; from += PAGE) {
    const to = Math.min(session.tail, from + PAGE - 1)
    const entries = await store.readEntries({
      sessionId: id,
      from: entryNumber(from),
      to: entryNumber(to),
    })
    for (const entry of entries) {
      for (const hash of 'blobs' in entry.meta ? entry.meta.blobs : []) blobs.add(hash)
      yield line({ entry })
    }
  }
  for (let after = mailNumber(0); ; ) {
    const page = await store.listMail({ sessionId: id, after, limit: PAGE })
    for (const item of page.filter(({ number }) => number <= session.mail)) {
      for (const hash of item.blobs) blobs.add(hash)
      yield line({ mail: storedMail(item) })
    }
    const last = page.at(-1)
    if (last === undefined || last.number >= session.mail) break
    after = last.number
  }
  for (let after = 0; ; ) {
    const waiting = { sessionId: id, state: 'waiting', after, limit: PAGE } as const
    const page = await store.listReplies(waiting)
    // Later replies belong to entries that are not in this file.
    const known = page.filter(({ number }) => number <= session.replies)
    for (const reply of known) yield line({ reply })
    const last = page.at(-1)
    if (last === undefined) break
    after = last.number
  }
  for (const hash of blobs) {
    const blob = await store.findBlob({ sessionId: id, hash })
    if (blob === undefined) continue
    const { bytes, ...facts } = blob
    yield line({ blob: { ...facts, base64: Buffer.from(bytes).toString('base64') } })
  }
  await checkWhole(store, session)
  yield `${lineOf({ end: { lines, sha256: sum.digest('hex') } })}\n`
}

/**
 * Reads the session row and checks it against the audit, so that a forged title is not exported.
 */
async function readAuditedSession(store: Reads, id: SessionId): Promise<SessionRow> {
  while (true) {
    const session = await store.findSession(id)
    if (session === undefined) throw new UnknownSessionError({ sessionId: id })
    const check = new IdentityCheck()
    for (let after = 0; ; ) {
      const page = await store.readAudit({ sessionId: id, after, limit: PAGE })
      for (const row of page) check.add(row)
      const last = page.at(-1)
      if (last === undefined) break
      after = last.cursor
    }
    const [problem] = check.end(session)
    if (problem === undefined) return session
    // The title may have been set during the read.
    const now = await store.findSession(id)
    if (now?.titleSalt !== session.titleSalt) continue
    throw new DamagedRowError({ row: `session ${id}`, problem, sessionId: id })
  }
}

/**
 * Only an erasure changes what the header describes; all else adds to it. After an erasure during
 * the export, the file would lack the erasure entry, and the handoff in effect would have no text.
 */
async function checkWhole(store: Reads, { id, state, tail, owed }: SessionRow): Promise<void> {
  const now = await store.findSession(id)
  const isDeleted = now === undefined || now.state !== state || now.owed.length > owed.length
  const behind = { sessionId: id, from: entryNumber(tail + 1), kind: 'erasure' } as const
  const erasures = isDeleted ? [] : await store.readEntries({ ...behind, to: now.tail })
  if (!isDeleted && erasures.length === 0) return
  const problem = `session ${id} was erased from while it was exported; export it again`
  throw new StoreBusyError({ waitedMs: 0, problem })
}

/** Many line readers also split at these two characters, which JSON does not have to escape. */
function lineOf(value: unknown): string {
  return JSON.stringify(value).replace(/[\u2028\u2029]/g, (end) =>
    end === '\u2028' ? '\\u2028' : '\\u2029',
  )
}

function storedMail({ state, ...row }: MailItem): MailRow {
  if (state === 'withdrawn') return { ...row, state }
  return { ...row, state: row.lane === 'control' && state === 'settled' ? 'settled' : 'admitted' }
}

export async function importSession(
  store: Pick<Commits, 'adoptSession'>,
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<ImportSessionOutcome> {
  const read = new Import()
  for await (const text of lines) {
    for (const line of text.split('\n')) {
      const trimmed = line.trim()
      const problem = trimmed === '' ? undefined : read.add(trimmed)
      if (problem !== undefined) return { kind: 'refused', line: read.line, problem }
    }
  }
  const request = read.end()
  return typeof request === 'string'
    ? { kind: 'refused', line: read.line, problem: request }
    : await store.adoptSession(request)
}

class Import {
  line = 0
  #session: CarriedSession | undefined
  #ended = false
  readonly #sum = createHash('sha256')
  readonly #entries: Entry[] = []
  readonly #mail: MailRow[] = []
  readonly #replies: CarriedReply[] = []
  readonly #blobs: CarriedBlob[] = []

  add(text: string): string | undefined {
    this.line += 1
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return 'expected JSON'
    }
    if (!isObject(value)) return 'expected an object'
    if (this.#ended) return 'expected nothing behind the end'
    if (value['end'] === undefined) this.#sum.update(text)
    if (this.#session === undefined) return this.#header(value)
    const { entry, mail, reply, blob, end } = value
    if (entry !== undefined) return keep(readEntryRow(entry), this.#entries)
    if (mail !== undefined) return keep(readMailRow(mail), this.#mail)
    if (reply !== undefined) return keep(readReplyRow(reply), this.#replies)
    if (blob !== undefined) return keep(readBlobRow(blob), this.#blobs)
    if (!isObject(end)) return 'expected an entry, mail, reply, blob or end'
    this.#ended = true
    if (end['lines'] !== this.line - 1) return `expected ${String(end['lines'])} lines before this`
    // Files from older versions have none.
    const { sha256 = null } = end
    return sha256 === null || sha256 === this.#sum.digest('hex') ? undefined : CHANGED
  }

  #header({ format, version, session }: JsonObject): string | undefined {
    if (format !== FORMAT) return `expected a line that says "format": "${FORMAT}"`
    if (version !== VERSION) return `made by a newer program (version ${version}, known ${VERSION})`
    const read = readSessionRow(session)
    if (typeof read === 'string') return read
    this.#session = read
    return undefined
  }

  end(): AdoptSession | string {
    const session = this.#session
    if (session === undefined) return 'the file is empty'
    if (!this.#ended) return 'the file was cut: its end is missing'
    const owned = { sessionId: session.id }
    return {
      session: {
        ...{ ...session, runner: null, holder: null, operation: null, titleSalt: null },
        ...{ scope: session.id, origin: null, retained: entryNumber(0) },
      },
      entries: this.#entries,
      mail: this.#mail,
      replies: this.#replies.map((reply) => ({ ...reply, ...owned, claimant: null })),
      blobs: this.#blobs.map(({ base64, ...blob }) => {
        return { ...blob, ...owned, bytes: new Uint8Array(Buffer.from(base64, 'base64')), at: 0 }
      }),
      operation: operationId(randomUUID()),
    }
  }
}

function keep<Row>(read: Row | string, rows: Row[]): string | undefined {
  if (typeof read === 'string') return read
  rows.push(read)
  return undefined
}
