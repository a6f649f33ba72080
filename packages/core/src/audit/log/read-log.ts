import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { constants, createGunzip, gunzipSync } from 'node:zlib'
import { KnownError } from '../../base/errors.ts'
import { type AuditLine, firstLineHash, LINE_LENGTH_MAX, parseLine } from './line.ts'

/** Not a readable audit log; the other logs are not judged without it. */
export class AuditLogError extends KnownError {
  override readonly name = 'AuditLogError'
  readonly code = 'audit-log-unreadable'
  readonly retryable = false
  readonly facts: { readonly path: string; readonly problem: string }

  constructor(facts: AuditLogError['facts'], options?: ErrorOptions) {
    super(`${facts.path} cannot be audited: ${facts.problem}`, options)
    this.facts = facts
  }
}

export interface AuditLogReader {
  /** Every readable line, even if it does not follow its predecessor. */
  line(line: AuditLine, number: number, text: string): void
  /** Damage to the log itself. */
  damage(problem: string, number: number, text: string): void
  /** Called after each chunk. */
  progress?(bytes: number): void
}

export interface LogSummary {
  /** Null: the process has logged nothing yet. */
  readonly log: string | null
  readonly lines: number
  /** The process was killed while it wrote its last line. */
  readonly isTorn: boolean
}

/** Streams one log, so memory does not depend on its length. `-`: standard input. */
export async function readAuditLog(path: string, reader: AuditLogReader): Promise<LogSummary> {
  const chain = new LineChain(path, reader)
  try {
    const { pieces, bytesRead } = await openPieces(path)
    for await (const piece of pieces) {
      chain.take(piece)
      reader.progress?.(bytesRead())
    }
  } catch (error) {
    if (error instanceof KnownError) throw error
    throw new AuditLogError({ path, problem: reasonOf(error) }, { cause: error })
  }
  return chain.end()
}

/** Splits bytes into lines and checks each against the hash chain. */
export class LineChain {
  readonly #path: string
  readonly #reader: AuditLogReader
  #rest = ''
  /** Lines in the file, the expected number of the next one, and the hash it must follow. */
  #count = 0
  #next = 1
  #hash = ''
  #log: string | null = null

  constructor(path: string, reader: AuditLogReader) {
    this.#path = path
    this.#reader = reader
  }

  take(piece: Buffer): void {
    // Our lines are ASCII; any other byte becomes a character that no line contains.
    const text = piece.toString('latin1')
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#line(this.#rest + text.slice(start, end))
      this.#rest = ''
      start = end + 1
    }
    // One character beyond the limit shows that a line is too long.
    if (this.#rest.length <= LINE_LENGTH_MAX) this.#rest += text.slice(start)
  }

  end(): LogSummary {
    const isWhole = parseLine(this.#rest).kind === 'line'
    const isTorn = this.#rest !== '' && !isWhole
    if (isWhole) this.#line(this.#rest)
    const isEmpty = this.#count === 0 && this.#rest === ''
    if (this.#log === null && !isEmpty) throw this.#refuse('there is no audit line in it.')
    return { log: this.#log, lines: this.#count, isTorn }
  }

  #line(text: string): void {
    this.#count += 1
    const parsed = parseLine(text)
    if (parsed.kind === 'newer') {
      throw this.#refuse(`it is of version ${parsed.version}; a newer throughline wrote it.`)
    }
    if (parsed.kind === 'broken') {
      if (this.#log === null) throw this.#refuse(`its line ${this.#count} ${parsed.problem}.`)
      this.#reader.damage(`the line ${parsed.problem}`, this.#count, text)
      return
    }
    const { line, hash } = parsed
    if (this.#log === null) {
      this.#log = line.log
      this.#hash = firstLineHash(line.log)
    }
    const problem = this.#findBreak(line, parsed.follows)
    if (problem !== null) this.#reader.damage(problem, this.#count, text)
    if (line.log === this.#log) {
      this.#next = line.line + 1
      this.#hash = hash
    }
    this.#reader.line(line, this.#count, text)
  }

  #findBreak(line: AuditLine, follows: (previous: string) => boolean): string | null {
    if (line.log !== this.#log) return 'the line is from another log'
    const next = this.#next
    if (line.line > next) {
      const last = line.line - 1
      return last === next ? `line ${next} is missing` : `lines ${next} to ${last} are missing`
    }
    if (line.line < next) return `line ${line.line} comes after line ${next - 1}`
    return follows(this.#hash) ? null : 'the line, or the one before it, was changed'
  }

  #refuse(problem: string): AuditLogError {
    return new AuditLogError({ path: this.#path, problem })
  }
}

interface Input {
  readonly pieces: AsyncIterable<Buffer>
  /** Compressed bytes, for comparison with the file size. */
  readonly bytesRead: () => number
}

async function openPieces(path: string): Promise<Input> {
  if (path === '-') return { pieces: process.stdin, bytesRead: () => 0 }
  const isGzip = await isGzipped(path)
  const raw = createReadStream(path, { highWaterMark: 1 << 18 })
  const bytesRead = () => raw.bytesRead
  if (!isGzip) return { pieces: raw, bytesRead }
  const unzipped = createGunzip()
  raw.on('error', (error) => unzipped.destroy(error))
  return { pieces: raw.pipe(unzipped), bytesRead }
}

async function isGzipped(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b
  } finally {
    await file.close()
  }
}

/** The session of a log's first line, which tells which store it belongs to; null: unreadable. */
export function firstSessionIn(path: string): string | null {
  try {
    const file = openSync(path, 'r')
    try {
      const head = Buffer.alloc(LINE_LENGTH_MAX + 1)
      const bytes = head.subarray(0, readSync(file, head, 0, head.length, 0))
      const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
      // The beginning of a compressed file decompresses to the beginning of its text.
      const text = isGzip
        ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: GUNZIPPED_MAX })
        : bytes
      const parsed = parseLine(text.toString('latin1').split('\n', 1)[0] ?? '')
      return parsed.kind === 'line' ? parsed.line.sessionId : null
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}

const GUNZIPPED_MAX = 64 * 1024 * 1024

const READ_ERRORS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file.',
  EISDIR: 'it is a folder. Name the logs in it.',
  EACCES: 'you are not allowed to read it.',
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return READ_ERRORS[code ?? ''] ?? `${message}.`
}
