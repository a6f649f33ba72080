import { z } from 'zod'
import type { JsonValue } from '../base/json.ts'
import { canonicalJson } from './canonical.ts'
import type { BlobRow, Entry, MailRow, ReplyRow, SessionRow } from './rows.ts'

/**
 * The shapes of an exported session's lines. A file comes from anywhere, and only its entries are
 * held together by hashes: everything else is believed by its shape here, and by its sums where it
 * is taken in (`rules/adopt.ts`). Unknown fields are dropped, as columns that no engine has.
 */
// One that grows by counting must have room to do so: what no engine can give back makes every list
// that it stands in unreadable.
const whole = z
  .int()
  .min(0)
  .max(2 ** 48)
const number = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)
/** Contexts and the search read bodies: one that is no JSON would stop them for good. */
const body = z.string().refine(isBody, 'expected JSON').nullable()
const sha = z.string().regex(/^[0-9a-f]{64}$/)
const perInput = z.object({ user: number, notification: number })

const session = z.object({
  id,
  agent: z.string().min(1),
  state: z.enum(['open', 'gone']),
  birth: z.enum(['created', 'afresh', 'imported']),
  createdAt: whole,
  fence: whole,
  recovered: whole,
  tail: number,
  tailHash: z.string(),
  base: number,
  seen: number,
  effective: number,
  covers: number,
  by: z.enum(['model', 'digest', 'rewrite']).nullable(),
  rewrites: whole,
  turn: whole,
  turnState: z.enum(['idle', 'running']),
  attempts: whole,
  openCalls: z.array(z.string()),
  mail: number,
  delivered: perInput,
  settled: perInput,
  pending: perInput.extend({ control: number }),
  replies: whole,
  policy: z.enum(['steer', 'queue', 'interrupt', 'collect']),
  wakeAt: whole.nullable(),
  limits: z.object({
    hardTokens: whole,
    pinTokens: whole,
    handoffTokens: whole,
    inputTokens: whole,
    stepTokens: whole,
    outputTokens: whole,
    laneMailMax: whole,
    sourceMailMax: whole,
  }),
  pins: z.record(z.string(), z.object({ entry: number, tokens: whole })),
  settings: number,
  tasks: number,
  // Files of older programs know no title.
  title: z.string().nullable().default(null),
})

const entry = z.object({
  number,
  operation: id,
  fence: whole,
  at: whole,
  tokens: whole,
  kind: z.enum([
    ...(['input', 'assistant', 'result', 'compaction', 'revert'] as const),
    ...(['pin', 'task', 'settings', 'turn', 'erasure'] as const),
  ]),
  meta: z.record(z.string(), z.json()),
  body,
  salt: z.string().nullable(),
  bodyHash: z.string(),
  prevHash: z.string(),
  hash: z.string(),
})

const mail = z.object({
  number,
  lane: z.enum(['control', 'user', 'notification']),
  control: z.string().nullable(),
  source: z.string().nullable(),
  key: z.string().nullable(),
  body,
  tokens: whole,
  state: z.enum(['admitted', 'withdrawn', 'settled']),
  turnAt: whole.nullable(),
  blobs: z.array(sha),
  at: whole,
})

const reply = z.object({
  number: whole,
  entry: number,
  edge: z.string(),
  address: z.string(),
  key: z.string(),
  body,
  state: z.enum(['waiting', 'sent', 'dead']),
  attempt: whole,
  dueAt: whole,
  at: whole,
  receipt: z.string(),
})

const blob = z.object({
  hash: sha,
  mediaType: z.string(),
  uses: whole,
  base64: z.base64(),
})

function isBody(text: string): boolean {
  try {
    canonicalJson(JSON.parse(text) as JsonValue)
    return true
  } catch {
    return false
  }
}

/** The row that a line holds, or what is wrong with it in one sentence. */
type Read<Row> = (value: unknown) => Row | string

function reader<Row>(what: string, schema: z.ZodType): Read<Row> {
  return (value) => {
    const read = schema.safeParse(value)
    if (read.success) return read.data as Row
    const [issue] = read.error.issues
    const where = issue === undefined ? '' : issue.path.join('.')
    return `this is no ${what}: ${where === '' ? '' : `${where}: `}${issue?.message ?? 'unreadable'}`
  }
}

/** Whoever held the session, and what it was busy with, stays behind. */
export type CarriedSession = Omit<SessionRow, 'runner' | 'holder' | 'operation'>
export type CarriedReply = Omit<ReplyRow, 'sessionId' | 'claimant'>
export type CarriedBlob = Pick<BlobRow, 'hash' | 'mediaType' | 'uses'> & { readonly base64: string }

export const readSessionRow = reader<CarriedSession>('session', session)
export const readEntryRow = reader<Entry>('entry', entry)
export const readMailRow = reader<MailRow>('mail', mail)
export const readReplyRow = reader<CarriedReply>('reply', reply)
export const readBlobRow = reader<CarriedBlob>('blob', blob)
