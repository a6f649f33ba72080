import { hash, randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { KnownError } from '#core/base/errors'
import { openToAppend, openToChange, replaceFile } from '#core/base/files/write'
import { isObject, type JsonObject } from '#core/base/json'
import { CLIENT_LOGS, type ClientLog, isLaterPatch } from './client-log.ts'
import { findClientProcess } from './client-process.ts'

/** Leaving: writes the handoff into the client's own log, so that it no longer needs the proxy. */
export type LeavableClient = keyof typeof CLIENT_LOGS

export interface LeaveRequest {
  readonly client: LeavableClient
  /** The client's own id. */
  readonly session: string
  readonly home: string
  /** The folder for backup copies. */
  readonly copies: string
  /** The options that name the session's store to other commands, for advice. */
  readonly storeOption?: string
}

type LeftSession = Pick<LeaveRequest, 'client' | 'session' | 'copies'>

/** The names that `export --to` has for the clients. */
const EXPORTS = { claude: 'claude-code', codex: 'codex' } as const

export class LeaveRefusedError extends KnownError {
  override readonly name = 'LeaveRefusedError'
  readonly code = 'leave-refused'
  readonly retryable = false
}

/** The data that `undo` needs. */
interface Record {
  readonly log: string
  readonly size: number
  readonly sum: string
  readonly sizeAfter: number
  readonly sumAfter: string
  /** The added lines: a killed process may have written only some of them. */
  readonly added?: string
  /** When it was left, and what the client's next context holds; absent in earlier versions. */
  readonly at?: number
  readonly tokens?: number
}

export function findLog({ client, session, home }: LeaveRequest): string {
  const { folder, isLogOf } = CLIENT_LOGS[client]
  const root = join(home, folder)
  const files = existsSync(root) ? readdirSync(root, { recursive: true, encoding: 'utf8' }) : []
  const found = files.filter((file) => isLogOf(basename(file), session))
  const [only, ...others] = found
  if (only === undefined) {
    throw new LeaveRefusedError(`There is no log of session ${session} below ${root}.`)
  }
  if (others.length > 0) {
    throw new LeaveRefusedError(`Session ${session} has ${found.length} logs below ${root}.`)
  }
  const log = join(root, only)
  // Reading a pipe would wait forever for its other end.
  if (statSync(log, { throwIfNoEntry: false })?.isFile() === true) return log
  throw new LeaveRefusedError(`${log} is not a file, so it cannot be the log of the session.`)
}

interface CheckedLog {
  readonly log: string
  readonly bytes: Buffer
  readonly lines: readonly JsonObject[]
  /** For the person: the client's version has not been tried; null: it has. */
  readonly warning: string | null
}

/** Checks everything that can be checked before a handoff is made. */
export function checkLog(request: LeaveRequest): CheckedLog {
  const log = findLog(request)
  const known: ClientLog = CLIENT_LOGS[request.client]
  refuseWhileRunning(request, log)
  const bytes = readFileSync(log)
  if (bytes.at(-1) !== 0x0a) throw new LeaveRefusedError(`The last line of ${log} is not complete.`)
  const lines = parseLines(bytes.toString(), log)
  const version = known.versionOf(lines)
  const isTried = version !== null && known.versions.includes(version)
  if (version === null || !(isTried || isLaterPatch(version, known))) {
    const [newest] = known.versions
    throw new LeaveRefusedError(
      `${log} was written by version ${version ?? 'unknown'}. Known are ${known.versions.join(', ')} ` +
        `and later patches of ${newest}: another version may not open a log that was changed. ` +
        'Go on under `throughline run`, or ' +
        `write the conversation as a new log: \`throughline export ${request.client}-${request.session} --to ${EXPORTS[request.client]}${request.storeOption ?? ''} -o FILE\`.`,
    )
  }
  const warning = isTried
    ? null
    : `Version ${version} of the client is newer than ${known.versions[0]}, the last one that was tried. ` +
      'If it does not open its log, undo this.'
  return { log, bytes, lines, warning }
}

/** A running client keeps the conversation in memory and would never read what is added to its log. */
function refuseWhileRunning({ client, session, home }: LeaveRequest, log: string): void {
  const pid = findClientProcess({ log, session, sessionsFolder: CLIENT_LOGS[client].running, home })
  if (pid === null) return
  throw new LeaveRefusedError(
    `${client} still runs with this session (process ${pid}). End it first, then leave: ` +
      'nothing was changed.',
  )
}

export function leave(request: LeaveRequest, handoff: { text: string; tokens: number }): string {
  const { log, bytes: before, lines } = checkLog(request)
  const last = newestRecord(request)
  // The record is written before the log, so after a kill in between the session was not left.
  if (last !== null && !isUnchanged(last.facts, before) && isOnlyOurs(last.facts, before)) {
    throw new LeaveRefusedError(
      `The session was left already: ${log} ends with the handoff. Start the client without the ` +
        'proxy and resume the session, or take the handoff back with --undo.',
    )
  }
  const { copy, record } = freePlaces(request, before)
  const known: ClientLog = CLIENT_LOGS[request.client]
  const at = new Date()
  const fresh = { ...handoff, at, newId: () => randomUUID() }
  const added = known.write(lines, fresh).map((line) => `${JSON.stringify(line)}\n`)
  replaceFile(copy, before)
  const own = Buffer.from(added.join(''))
  const after = Buffer.concat([before, own])
  const facts: Record = {
    ...{ log, size: before.length, sum: sumOf(before) },
    ...{ sizeAfter: after.length, sumAfter: sumOf(after), added: added.join('') },
    ...{ at: at.getTime(), tokens: handoff.tokens },
  }
  replaceFile(record, JSON.stringify(facts), { synced: true })
  const file = openToAppend(log)
  withFile(file, () => writeFileSync(file, own))
  const read = readFileSync(log)
  if (!read.equals(after)) {
    // A client that opens its log for each line goes unnoticed, so remove only our own lines.
    const isEnd = read.subarray(-own.length).equals(own)
    if (isEnd) truncateLog(log, read.length - own.length)
    rmSync(record)
    const left = isEnd
      ? 'Nothing was added'
      : `What was added stays; ${copy} is the log from before`
    throw new LeaveRefusedError(`${log} has changed meanwhile. ${left}. End the client first.`)
  }
  return log
}

/** When a session was left, and how large the context is in which its client continues; null: it was not. */
export function readLeft(request: LeftSession): { at: number; tokens: number } | null {
  const { at, tokens } = newestRecord(request)?.facts ?? {}
  return at === undefined || tokens === undefined ? null : { at, tokens }
}

/** The complete id of a session that was left, by a unique prefix of it. */
export function findLeft({ client, session, copies }: LeaveRequest): string {
  const names = existsSync(copies) ? readdirSync(copies) : []
  const left = names.flatMap((name) => {
    const [, of, id] = /^([a-z]+)-([\w-]+)(?:\.\d+)?\.jsonl?$/.exec(name) ?? []
    return of === client && id?.startsWith(session) ? [id] : []
  })
  if (left.includes(session)) return session
  const [only = session, ...others] = new Set(left)
  if (others.length === 0) return only
  throw new LeaveRefusedError(
    `Several sessions that were left begin with ${session}: ${[only, ...others].join(', ')}. ` +
      'Give more of the id.',
  )
}

/** Restores the log byte for byte. Refused if the client has continued in it. */
export function undoLeave(request: LeaveRequest): string {
  const last = newestRecord(request)
  if (last === null) {
    const wasLeft = listPlaces(request).length > 0
    throw new LeaveRefusedError(
      wasLeft
        ? 'Nothing is left to undo: the log is as it was before the session was left.'
        : `Session ${request.session} was not left from here, so there is nothing to undo.`,
    )
  }
  const { copy, record, facts } = last
  const { log } = facts
  if (existsSync(log)) refuseWhileRunning(request, log)
  const now = readFileSync(log)
  if (!isOnlyOurs(facts, now)) {
    throw new LeaveRefusedError(
      `The client has gone on in ${log} since. ${copy} is the log as it was before; to have it ` +
        'back, and lose what was said since, copy it there by hand.',
    )
  }
  truncateLog(log, facts.size)
  if (sumOf(readFileSync(log)) !== facts.sum) {
    replaceFile(log, readFileSync(copy), { keepsMode: true, synced: true })
  }
  rmSync(record)
  return log
}

function truncateLog(log: string, size: number): void {
  const file = openToChange(log)
  withFile(file, () => ftruncateSync(file, size))
}

/** What was changed survives a power failure. */
function withFile(file: number, change: () => void): void {
  try {
    change()
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function readRecord(path: string): Record | null {
  if (!existsSync(path)) return null
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record
  } catch {
    // Earlier versions could be killed while writing the record, before they touched the log.
    return null
  }
}

function isUnchanged({ size, sum }: Record, now: Buffer): boolean {
  return now.length === size && sumOf(now) === sum
}

/** Whether only our own lines, or some of them, follow the original log. */
function isOnlyOurs(facts: Record, now: Buffer): boolean {
  const { size, sum, sizeAfter, sumAfter, added } = facts
  if (now.length === sizeAfter && sumOf(now) === sumAfter) return true
  if (added === undefined || now.length < size || sumOf(now.subarray(0, size)) !== sum) return false
  const own = Buffer.from(added).subarray(0, now.length - size)
  return now.subarray(size).equals(own)
}

interface Places {
  readonly copy: string
  readonly record: string
}

/** A session may be left many times; each time has a number and keeps its own copy. */
function placesOf({ client, session, copies }: LeftSession, time: number): Places {
  const name = `${client}-${session.replaceAll(/[^\w-]/g, '_')}${time === 1 ? '' : `.${time}`}`
  return { copy: join(copies, `${name}.jsonl`), record: join(copies, `${name}.json`) }
}

/** The places of every time so far. An undone time has only its copy. */
function listPlaces(request: LeftSession): readonly Places[] {
  const found: Places[] = []
  for (let places = placesOf(request, 1); ; places = placesOf(request, found.length + 1)) {
    if (!existsSync(places.copy)) return found
    found.push(places)
  }
}

function newestRecord(request: LeftSession): (Places & { readonly facts: Record }) | null {
  for (const places of listPlaces(request).toReversed()) {
    const facts = readRecord(places.record)
    if (facts !== null) return { ...places, facts }
  }
  return null
}

/** A copy is never overwritten, except by the same bytes: when a time is repeated. */
function freePlaces(request: LeaveRequest, before: Buffer): Places {
  const taken = listPlaces(request)
  const last = taken.at(-1)
  if (last !== undefined && readFileSync(last.copy).equals(before)) return last
  return placesOf(request, taken.length + 1)
}

function parseLines(text: string, log: string): readonly JsonObject[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      try {
        const value: unknown = JSON.parse(line)
        if (isObject(value)) return value
      } catch {
        // Reported below.
      }
      throw new LeaveRefusedError(`Line ${index + 1} of ${log} is not a JSON object.`)
    })
}

function sumOf(bytes: Buffer): string {
  return hash('sha256', bytes, 'hex')
}
