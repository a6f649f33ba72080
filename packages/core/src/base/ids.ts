import { KnownError } from './errors.ts'

/**
 * Identities that must not be mixed up. They are plain strings and numbers at run time; the brand
 * exists for the compiler only, so that a mail number cannot be passed for an entry number.
 */
declare const brand: unique symbol
type Branded<Value, Name extends string> = Value & { readonly [brand]: Name }

/** Chosen once, never changed, never reused. Contains no dot, so derived names are not routable. */
export type SessionId = Branded<string, 'SessionId'>
/** One process that may hold sessions; drawn at random when it registers. */
export type RunnerId = Branded<string, 'RunnerId'>
/** One attempt at a commit or a compaction. */
export type OperationId = Branded<string, 'OperationId'>
/** Position in a transcript, from 1 without gaps; 0 means "none yet". */
export type EntryNumber = Branded<number, 'EntryNumber'>
/** Position in a mailbox, from 1 without gaps; 0 means "none yet". */
export type MailNumber = Branded<number, 'MailNumber'>

const ID = /^[A-Za-z0-9_-]{1,64}$/
const NUMBER_MAX = 2 ** 31 - 1

export class InvalidIdError extends KnownError {
  override readonly name = 'InvalidIdError'
  readonly code = 'invalid-id'
  readonly retryable = false
  readonly facts: { readonly what: string; readonly found: string }

  constructor(facts: InvalidIdError['facts']) {
    const snapshot = parseSnapshotName(facts.found)
    super(
      snapshot === undefined
        ? `A valid ${facts.what} has 1 to 64 letters, digits, "_" or "-"; found ${JSON.stringify(facts.found.slice(0, 80))}.`
        : `${facts.found} is a snapshot and not a ${facts.what}: it can only be read. Use ${snapshot.sessionId}.`,
    )
    this.facts = facts
  }
}

/** The session just before the compaction at this entry. */
export interface SnapshotName {
  readonly sessionId: SessionId
  readonly compaction: EntryNumber
}

const SNAPSHOT = /^([A-Za-z0-9_-]{1,64})\.snapshot\.([1-9]\d{0,9})$/

/** `<session>.snapshot.<entry of the compaction>`; session ids contain no dot. */
export function parseSnapshotName(text: string): SnapshotName | undefined {
  const [, session, number] = SNAPSHOT.exec(text) ?? []
  if (session === undefined || Number(number) > NUMBER_MAX) return undefined
  return { sessionId: session as SessionId, compaction: Number(number) as EntryNumber }
}

export function snapshotName({ sessionId, compaction }: SnapshotName): string {
  return `${sessionId}.snapshot.${compaction}`
}

export function isId(text: string): boolean {
  return ID.test(text)
}

export function sessionId(text: string): SessionId {
  return checked(text, 'session id') as SessionId
}

export function runnerId(text: string): RunnerId {
  return checked(text, 'runner id') as RunnerId
}

export function operationId(text: string): OperationId {
  return checked(text, 'operation id') as OperationId
}

export function entryNumber(number: number): EntryNumber {
  return counted(number) as EntryNumber
}

export function mailNumber(number: number): MailNumber {
  return counted(number) as MailNumber
}

function checked(text: string, what: string): string {
  if (!ID.test(text)) throw new InvalidIdError({ what, found: text })
  return text
}

// 2^31 - 1 entries per session: the store packs session and number into one 53-bit key.
function counted(number: number): number {
  if (!Number.isInteger(number) || number < 0 || number > NUMBER_MAX) {
    throw new RangeError(`Expected a whole number from 0 to ${NUMBER_MAX}, found ${number}.`)
  }
  return number
}
