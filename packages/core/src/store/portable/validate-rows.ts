import type { JsonValue } from '../../base/json.ts'
import { TITLE_MAX } from '../bounds.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import type { BlobRow, Entry, MailRow, ReplyRow, SessionRow } from '../tables/rows.ts'
import {
  absentAs,
  json,
  list,
  nullable,
  object,
  oneOf,
  record,
  type Shape,
  ShapeError,
  text,
  wholeNumber,
} from './shape.ts'

/**
 * The shapes of an exported session's lines. Files are untrusted, and hashes protect only the
 * entries: everything else is checked by its shape here and by its counts on import
 * (`rules/adopt.ts`). Unknown fields are dropped.
 */
// Counters need room to grow: a number that an engine cannot return exactly would make every list
// that contains it unreadable.
const whole = wholeNumber(2 ** 48)
const number = wholeNumber(2 ** 31 - 1)
const id = text((value) => /^[A-Za-z0-9_-]{1,64}$/.test(value), 'an id')
const anyText = text()
const maybeText = nullable(anyText)
/** Contexts and the search parse bodies: one that is not JSON would break them for good. */
const body = nullable(text(isBody, 'JSON'))
const sha = text((value) => /^[0-9a-f]{64}$/.test(value), 'a SHA-256 hash')
/** Names come from configurations and programs, which set no limit; this is far above any. */
const AGENT_MAX = 1_000
const perInput = { user: number, notification: number }

const session = object({
  id,
  agent: text((value) => value !== '' && value.length <= AGENT_MAX, 'a name'),
  state: oneOf('open', 'gone'),
  birth: oneOf('created', 'afresh', 'imported', 'forked'),
  createdAt: whole,
  fence: whole,
  recovered: whole,
  tail: number,
  tailHash: anyText,
  base: number,
  seen: number,
  effective: number,
  covers: number,
  by: nullable(oneOf('model', 'digest', 'rewrite', 'clearing')),
  rewrites: whole,
  turn: whole,
  turnState: oneOf('idle', 'running'),
  attempts: whole,
  openCalls: list(anyText),
  mail: number,
  delivered: object(perInput),
  settled: object(perInput),
  pending: object({ ...perInput, control: number }),
  replies: whole,
  policy: oneOf('steer', 'queue', 'interrupt', 'collect'),
  wakeAt: nullable(whole),
  limits: object({
    hardTokens: whole,
    pinTokens: whole,
    handoffTokens: whole,
    inputTokens: whole,
    stepTokens: whole,
    outputTokens: whole,
    laneMailMax: whole,
    sourceMailMax: whole,
  }),
  pins: record(object({ entry: number, tokens: whole })),
  settings: number,
  tasks: number,
  // Files from older versions have no losses, no forks and no title.
  losses: absentAs(0, whole),
  forkedAt: absentAs(0, number),
  root: absentAs<string | null>(null, nullable(id)),
  owed: absentAs<readonly number[]>([], list(number)),
  title: absentAs<string | null>(
    null,
    nullable(text((value) => value.length <= TITLE_MAX, `at most ${TITLE_MAX} characters`)),
  ),
})

const entry = object({
  number,
  operation: id,
  fence: whole,
  at: whole,
  tokens: whole,
  kind: oneOf(
    ...(['input', 'assistant', 'result', 'compaction', 'revert'] as const),
    ...(['pin', 'task', 'settings', 'turn', 'erasure', 'record', 'arrival'] as const),
  ),
  meta: record(json),
  body,
  salt: maybeText,
  bodyHash: anyText,
  prevHash: anyText,
  hash: anyText,
})

const mail = object({
  number,
  lane: oneOf('control', 'user', 'notification'),
  control: maybeText,
  source: maybeText,
  key: maybeText,
  body,
  tokens: whole,
  state: oneOf('admitted', 'withdrawn', 'settled'),
  turnAt: nullable(whole),
  blobs: list(sha),
  at: whole,
})

const reply = object({
  number: whole,
  entry: number,
  edge: anyText,
  address: anyText,
  key: anyText,
  body,
  state: oneOf('waiting', 'sent', 'dead'),
  attempt: whole,
  dueAt: whole,
  at: whole,
  receipt: anyText,
})

const blob = object({
  hash: sha,
  mediaType: anyText,
  uses: whole,
  base64: text(isBase64, 'base64'),
})

/** Complete groups of four characters, padded at the end. */
function isBase64(value: string): boolean {
  return value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)
}

function isBody(text: string): boolean {
  try {
    canonicalJson(JSON.parse(text) as JsonValue)
    return true
  } catch {
    return false
  }
}

type Fields<Row> = { readonly [Field in keyof Row]: unknown }

/** The row of a line, or one sentence that says what is wrong with it. */
type Read<Row> = (value: unknown) => Row | string

/** The compiler finds a field of the row that its shape lacks. */
function reader<Row>(what: string, shape: Shape<Fields<Row>>): Read<Row> {
  return (value) => {
    try {
      return shape.read(value, '') as Row
    } catch (error) {
      if (error instanceof ShapeError) return `this is not a valid ${what}: ${error.message}`
      throw error
    }
  }
}

/** Without the holder and its running work. */
export type CarriedSession = Omit<
  SessionRow,
  'runner' | 'holder' | 'operation' | 'titleSalt' | 'scope' | 'origin' | 'retained'
>
export type CarriedReply = Omit<ReplyRow, 'sessionId' | 'claimant'>
export type CarriedBlob = Pick<BlobRow, 'hash' | 'mediaType' | 'uses'> & { readonly base64: string }

export const readSessionRow = reader<CarriedSession>('session', session)
export const readEntryRow = reader<Entry>('entry', entry)
export const readMailRow = reader<MailRow>('mail', mail)
export const readReplyRow = reader<CarriedReply>('reply', reply)
export const readBlobRow = reader<CarriedBlob>('blob', blob)
