import { z } from 'zod'
import {
  type EntryNumber,
  isId,
  type MailNumber,
  parseSnapshotName,
  type SessionId,
} from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import { pinNameProblem } from '#core/message/handoff/pinned'
import type { UserPart } from '#core/message/message'
import { SCOPES } from './access/access.ts'
import { rehearsal } from './diagnostics.ts'

/** Schemas that check requests and describe responses. */

const COUNT_MAX = 2 ** 31 - 1

/** Numbers in a path or a query are digits only: no spaces, signs or exponents. */
function digits(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/, { error: 'expected a whole number' })
    .transform(Number)
    .pipe(z.number().int().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max })
}

export const pageSize = (max: number) => digits(1, max).optional()
export const entryNumberText = digits(1, COUNT_MAX).transform((number) => number as EntryNumber)
export const mailNumberText = digits(1, COUNT_MAX).transform((number) => number as MailNumber)
export const mailCursor = digits(0, COUNT_MAX)
export const eventCursor = digits(0, Number.MAX_SAFE_INTEGER)

/** Derived names contain a dot, so this refuses them like any other impossible id. */
export const sessionIdText = z
  .string()
  .refine(isId, { error: 'expected 1 to 64 letters, digits, "_" or "-"' })
  .transform((id) => id as SessionId)
  .meta({ type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' })

/** For reads: a session, or its snapshot just before a compaction. */
export const readableIdText = z
  .string()
  .transform((id, context) => {
    const snapshot = parseSnapshotName(id)
    if (snapshot !== undefined) return snapshot
    if (isId(id)) return { sessionId: id as SessionId, compaction: null }
    context.addIssue({ code: 'custom', message: 'expected the id of a session or a snapshot' })
    return z.NEVER
  })
  .meta({ type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}(\\.snapshot\\.[1-9][0-9]{0,9})?$' })

/** Text is kept byte for byte, so it must be valid: no lone surrogates. */
const text = (lengthMax: number) =>
  z
    .string()
    .min(1)
    .max(lengthMax)
    .refine((value) => value.isWellFormed(), { error: 'contains a lone surrogate' })

const MESSAGE_LENGTH_MAX = 4_000_000
const NAME_LENGTH_MAX = 128
const FOCUS_LENGTH_MAX = 2_000
const QUERY_LENGTH_MAX = 500
const PARTS_MAX = 100

export const name = text(NAME_LENGTH_MAX)
export const pinName = z
  .string()
  .superRefine((name, { addIssue }) => {
    const problem = pinNameProblem(name)
    if (problem !== null) addIssue(problem)
  })
  .meta({ type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' })
export const focus = text(FOCUS_LENGTH_MAX)
export const queryText = text(QUERY_LENGTH_MAX)
export const blobHash = z.string().regex(/^[0-9a-f]{64}$/, { error: 'expected 64 hex digits' })
export const pinText = text(100_000)
/** The same limit as for a note that the agent writes. */
export const noteText = text(600).regex(/\S/, { error: 'expected a text' })

// The server never fetches this URL, but providers do, so it must name its host in plain form.
const source = z.union([
  z.strictObject({
    kind: z.literal('base64'),
    mediaType: z.string().regex(/^[a-z]{1,32}\/[a-z0-9.+-]{1,96}$/),
    data: z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/),
  }),
  z.strictObject({
    kind: z.literal('url'),
    url: z
      .string()
      .max(2_000)
      .regex(/^https:\/\/[^\s@]+$/, { error: 'expected an https address' }),
  }),
])

const part = z.union([
  z.strictObject({ type: z.literal('text'), text: text(MESSAGE_LENGTH_MAX) }),
  z.strictObject({ type: z.literal('image'), source }),
  z.strictObject({ type: z.literal('file'), source, name: name.optional() }),
])

export const newMessage = z
  .strictObject({
    text: text(MESSAGE_LENGTH_MAX).optional(),
    parts: z.array(part).min(1).max(PARTS_MAX).optional(),
    lane: z.enum(['user', 'notification']).optional(),
  })
  .refine((body) => (body.text === undefined) !== (body.parts === undefined), {
    error: 'expected either text or parts',
  })
  .transform(({ text, parts, lane = 'user' }) => ({
    parts: (parts ?? [{ type: 'text', text }]) as readonly UserPart[],
    lane,
  }))
  .meta({ id: 'NewMessage' })

export const newSessionSchema = z
  .strictObject({
    agent: name,
    id: sessionIdText.optional(),
    route: z.strictObject({ channel: name, address: text(512) }).optional(),
    afresh: z.boolean().optional().meta({ description: 'Point the route to a new session' }),
  })
  .refine(({ id, route, afresh }) => !afresh || (route !== undefined && id === undefined), {
    error: 'afresh needs a route and excludes id',
  })
  .meta({ id: 'NewSession' })

/** `at`: the last entry that the fork begins with. */
export const newFork = z
  .strictObject({ at: z.number().int().min(1), id: sessionIdText.optional() })
  .meta({ id: 'NewFork' })

/** One of three: compact, preview a compaction, or commit a preview. */
export const newCompaction = z
  .strictObject({
    focus: focus.optional(),
    preview: z.boolean().optional(),
    install: z.record(z.string(), z.unknown()).optional(),
  })
  .refine((body) => body.install === undefined || (!body.preview && body.focus === undefined), {
    error: 'install excludes focus and preview',
  })
  .transform(({ install, ...rest }) => ({ ...rest, install: install as JsonObject | undefined }))
  .meta({ id: 'NewCompaction' })

const count = z.number().int().min(0)
const nullableCount = count.nullable()
const loose = z.looseObject({})

export const problemDetails = z
  .looseObject({
    type: z.string(),
    code: z.string(),
    status: z.number().int(),
    title: z.string(),
    detail: z.string().optional(),
    requestId: z.string(),
  })
  .meta({ id: 'Problem' })

export const accepted = z
  .strictObject({
    sessionId: z.string(),
    /** Its number in the mailbox. */
    mail: count,
    duplicate: z.boolean(),
  })
  .meta({ id: 'Accepted' })

export const answered = z
  .strictObject({
    ...accepted.shape,
    reply: z
      .strictObject({
        sessionId: z.string(),
        ...{ turn: count, entry: count },
        ended: z.enum(['answered', 'stopped', 'failed']),
        reason: z.string().nullable(),
        text: z.string(),
      })
      .nullable(),
  })
  .meta({ id: 'Answered' })

export const access = z.strictObject({
  scope: z.enum(SCOPES),
  sessions: z.array(z.string()).nullable(),
})

/** 16 random bytes, or as many of a hash. */
const sixteen = z.string().regex(/^[\w-]{22}$/)
export const proofQuery = z.strictObject({
  name: sixteen,
  nonce: sixteen,
  host: z.string().max(300),
})
export const proof = z.strictObject({ run: z.string(), proof: z.string() })

export const agentList = z
  .strictObject({
    agents: z.array(
      z.strictObject({
        name: z.string(),
        model: z.string(),
        provider: z.string(),
        windowTokens: count,
        tools: z.array(z.string()),
        policy: z.string(),
      }),
    ),
  })
  .meta({ id: 'Agents' })

const entry = z
  .strictObject({
    number: count,
    kind: z.string(),
    at: z.number(),
    tokens: count,
    meta: loose,
    message: z.looseObject({ role: z.string() }).nullable(),
    body: z.union([loose, z.string()]).nullable(),
    isCovered: z.boolean(),
  })
  .meta({ id: 'Entry' })
export const transcript = z
  .strictObject({ entries: z.array(entry), next: nullableCount })
  .meta({ id: 'Transcript' })

export const contextSchema = z
  .strictObject({
    sessionId: z.string(),
    upto: count,
    tokens: count,
    windowTokens: count,
    hardTokens: count,
    softTokens: count.nullable(),
    countedTokens: count.nullable(),
    parts: z.array(
      z.strictObject({
        kind: z.string(),
        tokens: count,
        text: z.string(),
        role: z.enum(['user', 'assistant', 'tool', 'client-summary']).nullable(),
        origin: z.strictObject({ from: count, to: count }),
      }),
    ),
    messages: z.array(z.looseObject({ role: z.string() })),
  })
  .meta({ id: 'Context' })

/** Sent as JSON, never as a document: a browser must not render uploads under our origin. */
export const blobView = z
  .strictObject({ mediaType: z.string(), data: z.string() })
  .meta({ id: 'Blob' })

export const taskList = z
  .strictObject({
    tasks: z.array(
      z.strictObject({
        text: z.string(),
        status: z.enum(['pending', 'running', 'done', 'cancelled']),
      }),
    ),
  })
  .meta({ id: 'Tasks' })

export const controlEnd = z
  .strictObject({
    outcome: z
      .union([
        z.strictObject({ kind: z.literal('done') }),
        z.strictObject({
          kind: z.literal('turned-down'),
          why: z.string(),
          tokensAfter: count.optional(),
          limit: count.optional(),
        }),
      ])
      .nullable(),
    /** Why it was turned down, for people. */
    refusal: z.string().nullable(),
  })
  .meta({ id: 'ControlOutcome' })

export const pinList = z
  .strictObject({
    pins: z.array(
      z.strictObject({ name: z.string(), text: z.string(), tokens: count, entry: count }),
    ),
  })
  .meta({ id: 'Pins' })

export const preview = z
  .union([
    z.strictObject({
      kind: z.literal('previewed'),
      sessionId: z.string(),
      covers: count,
      base: count,
      handoff: loose,
      tokensBefore: count,
      tokensAfter: count,
      install: loose,
    }),
    z.strictObject({ kind: z.literal('nothing-to-do'), sessionId: z.string() }),
  ])
  .meta({ id: 'Preview' })

export const mailList = z
  .strictObject({
    mail: z.array(
      z.strictObject({
        number: count,
        source: z.string().nullable(),
        key: z.string().nullable(),
        lane: z.string(),
        control: z.string().nullable(),
        state: z.enum(['pending', 'delivered', 'settled', 'withdrawn']),
        at: z.number(),
        text: z.string(),
      }),
    ),
    next: nullableCount,
  })
  .meta({ id: 'Mailbox' })

export const foundList = z
  .strictObject({
    found: z.array(
      z.strictObject({
        sessionId: z.string(),
        excerpt: z.string(),
        highlights: z.array(z.strictObject({ from: count, to: count })),
        entry,
        before: z.array(entry),
        after: z.array(entry),
      }),
    ),
    total: count.describe('All that match, listed or not; in many sessions, at least so many.'),
    note: z.string().optional().describe('Why less was searched than usual.'),
  })
  .meta({ id: 'Found' })

export const status = z
  .strictObject({ status: z.string(), reason: z.string().optional() })
  .meta({ id: 'Status' })
export const auditView = z
  .strictObject({
    audit: z
      .strictObject({
        holds: z.boolean(),
        laws: z.array(
          z.strictObject({
            law: z.string(),
            title: z.string(),
            contract: z.array(z.string()),
            holds: z.boolean(),
            offences: z.array(
              z.strictObject({ sessionId: z.string().nullable(), problem: z.string() }),
            ),
            offencesCount: count,
            advice: z.string().nullable(),
          }),
        ),
        figures: loose,
        logs: count,
        isBehind: z.boolean(),
      })
      .nullable(),
  })
  .meta({ id: 'Audit' })
export const rehearsalView = z
  .strictObject({ rehearsal: rehearsal.nullable() })
  .meta({ id: 'RehearsalPicture' })
export const health = z
  .looseObject({ isReady: z.boolean(), problems: z.array(z.string()) })
  .meta({ id: 'Health' })
