import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { sha256Hex } from '../../base/sha256.ts'

/**
 * The audit line: one JSON object per line of text, written only by this serialiser. It contains
 * ids, numbers and reasons, never conversation text. Everything outside printable ASCII is escaped,
 * so no id can end a line, move a cursor or reverse text. Each line carries a hash over itself and
 * the previous hash, so a removed, added or changed line is detected. The chain has no secret: it
 * shows accidents, not a forger who recomputes it. Against forgery, the log is compared with the
 * store.
 */
export const AUDIT_VERSION = 1

/**
 * The fields of a line, in the order in which they are written. The guide's table repeats this one.
 */
export const AUDIT_FIELDS = {
  v: 'version of this schema',
  log: 'id of the log, drawn when the process opened it',
  line: 'number of the line in its log, from 1 without gaps',
  time: "the time by the host's clock; no law relies on it",
  kind: 'what happened',
  sessionId: 'the session it happened to',
  operationId:
    'the compaction, or the turn (`turn-` and its number), or the commit that made a session',
  entry: 'the newest entry of the transcript after it happened',
  mailbox: 'numbers of mail, `from` and `to`, both included',
  whole: 'unanswered mail that a context held as it was sent, as ranges like `mailbox`',
  clipped: 'unanswered mail that a context held with its two ends only, as ranges',
  base: 'the newest entry that changed the base of the context',
  fence: 'the acquisition of the session under which it happened',
  trigger: 'why a compaction started: `manual`, `preflight`, `background`, `reactive`, `idle`',
  by: 'who writes its handoff: `digest`, `model`, or `rewrite` for a model that replaces a digest; `clearing` shortens old tool results and writes none',
  tokensBefore: 'size of the context before a compaction',
  tokensAfter: 'size of the context after a compaction',
  messagesBefore: 'how many messages the context held word for word before a compaction',
  messagesAfter: 'how many of them it still holds after it',
  reason: 'a fixed word or sentence',
  hash: 'over this line and the hash of the one before',
} as const

type FieldName = keyof typeof AUDIT_FIELDS

/** The kinds, with the fields that each requires beyond the first six. */
export const AUDIT_KINDS = {
  'session created': {
    means: 'a session was created; the reason is `created`, `afresh`, `imported` or `forked`',
    needs: ['operationId', 'entry', 'reason'],
  },
  'message admitted': {
    means: 'a message became durable and was then acknowledged; the reason is its lane',
    needs: ['mailbox', 'reason'],
  },
  'message withdrawn': {
    means: 'a waiting message was taken back by its sender',
    needs: ['mailbox'],
  },
  'message delivered': {
    means:
      'messages of one lane entered the transcript, the last one as `entry`; the reason is the lane',
    needs: ['entry', 'mailbox', 'fence', 'reason'],
  },
  'turn started': {
    means: 'a turn began',
    needs: ['operationId', 'entry', 'fence'],
  },
  'context shown': {
    means:
      'a step began with a context up to `entry`; written again when the unanswered mail changed',
    needs: ['operationId', 'entry', 'base', 'fence'],
  },
  'turn ended': {
    means: 'a turn ended; the reason is `answered`, `stopped`, `failed` or `unknown`',
    needs: ['operationId', 'entry', 'fence', 'reason'],
  },
  'compaction started': {
    means: 'a compaction was claimed; `mailbox` is the mail that waited',
    needs: ['operationId', 'entry', 'base', 'fence', 'trigger'],
  },
  'compaction committed': {
    means: 'it is in effect, as `entry`; `mailbox` is the mail acknowledged while it ran',
    needs: ['operationId', 'entry', 'base', 'fence'],
  },
  'compaction failed': {
    means: 'it ended without effect',
    needs: ['operationId', 'entry', 'base', 'fence', 'reason'],
  },
  'compaction superseded': {
    means: 'something else took its place; no effect',
    needs: ['operationId', 'entry', 'base', 'fence', 'reason'],
  },
  'compaction abandoned': {
    means:
      'its owner was gone; reported by the next owner, under the fence of the operation; no effect',
    needs: ['operationId', 'entry', 'base', 'fence', 'reason'],
  },
  'compaction reverted': {
    means: 'the committed compaction at entry `base` was undone, by `entry`',
    needs: ['entry', 'base', 'fence'],
  },
  'lease acquired': {
    means: 'this process became the only writer of the session',
    needs: ['entry', 'base', 'fence'],
  },
  'lease lost': {
    means: 'it no longer is; the reason is `released`, `shutdown`, `lost` or `crashed`',
    needs: ['fence', 'reason'],
  },
} as const satisfies Record<string, { means: string; needs: readonly FieldName[] }>

export type AuditLineKind = keyof typeof AUDIT_KINDS

/** The first six and the last one: every line has them, and the log supplies all but two. */
export const FIELDS_OF_EVERY_LINE = [
  'v',
  'log',
  'line',
  'time',
  'kind',
  'sessionId',
  'hash',
] as const

export interface MailRange {
  readonly from: number
  readonly to: number
}

export interface AuditFacts {
  readonly operationId?: string | undefined
  readonly entry?: number | undefined
  readonly mailbox?: MailRange | undefined
  readonly whole?: readonly MailRange[] | undefined
  readonly clipped?: readonly MailRange[] | undefined
  readonly base?: number | undefined
  readonly fence?: number | undefined
  readonly trigger?: string | undefined
  readonly by?: string | undefined
  readonly tokensBefore?: number | undefined
  readonly tokensAfter?: number | undefined
  readonly messagesBefore?: number | undefined
  readonly messagesAfter?: number | undefined
  readonly reason?: string | undefined
}

type Needed<Kind extends AuditLineKind> = (typeof AUDIT_KINDS)[Kind]['needs'][number] &
  keyof AuditFacts

/** The input of a line. The compiler requires the fields of the kind. */
export type NewAuditLine = {
  [Kind in AuditLineKind]: AuditFacts & {
    readonly kind: Kind
    readonly sessionId: string
  } & { readonly [Field in Needed<Kind>]: NonNullable<AuditFacts[Field]> }
}[AuditLineKind]

export interface AuditLine extends AuditFacts {
  readonly log: string
  readonly line: number
  readonly time: string
  readonly kind: AuditLineKind
  readonly sessionId: string
}

export const LINE_LENGTH_MAX = 4_096
/** Further ranges are left out; the audit concludes nothing from their absence. */
const RANGES_MAX = 48
const ID_LENGTH_MAX = 64
const TEXT_LENGTH_MAX = 200
const HASH_LENGTH = 32
const TAIL_LENGTH = `,"hash":"${'0'.repeat(HASH_LENGTH)}"}`.length

/** The hash before the first line of a log. */
export function firstLineHash(log: string): string {
  return digest(`throughline audit ${AUDIT_VERSION} ${log}`)
}

export function writeLine(line: AuditLine, previous: string): { text: string; hash: string } {
  const body = serialise(line).slice(0, -1)
  const own = digest(previous + body)
  return { text: `${body},"hash":"${own}"}`, hash: own }
}

export type ParsedLine =
  | {
      readonly kind: 'line'
      readonly line: AuditLine
      readonly hash: string
      /** The expected hash of a line after a line with this hash. */
      readonly follows: (previous: string) => boolean
    }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'broken'; readonly problem: string }

/** Accepts only the exact output of `writeLine`: no other spacing, order or duplicate keys. */
export function parseLine(text: string): ParsedLine {
  if (text.length > LINE_LENGTH_MAX) return broken(`is longer than ${LINE_LENGTH_MAX} characters`)
  const value = parseJson(text)
  if (!isObject(value)) return broken('is no JSON object')
  const version = value['v']
  if (typeof version === 'number' && version > AUDIT_VERSION) return { kind: 'newer', version }
  if (version !== AUDIT_VERSION) return broken('is no audit line of this schema')
  const problem = findFault(value)
  if (problem !== undefined) return broken(problem)
  const { v: _version, hash: own, ...facts } = value
  // Checked field by field just above.
  const line = facts as unknown as AuditLine
  const body = text.slice(0, -TAIL_LENGTH)
  if (`${body}}` !== serialise(line)) return broken('was not written by the serialiser')
  return {
    kind: 'line',
    line,
    hash: own as string,
    follows: (previous) => digest(previous + body) === own,
  }
}

function broken(problem: string): ParsedLine {
  return { kind: 'broken', problem }
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

function digest(text: string): string {
  return sha256Hex(text).slice(0, HASH_LENGTH)
}

/** Keys in the order of the table; absent values and non-integers are left out. */
function serialise(line: AuditLine): string {
  const { mailbox } = line
  const ordered = {
    v: AUDIT_VERSION,
    log: clipId(line.log),
    line: line.line,
    time: line.time,
    kind: line.kind,
    sessionId: clipId(line.sessionId),
    operationId: line.operationId === undefined ? undefined : clipId(line.operationId),
    entry: counted(line.entry),
    mailbox: mailbox && { from: counted(mailbox.from), to: counted(mailbox.to) },
    whole: listed(line.whole),
    clipped: listed(line.clipped),
    base: counted(line.base),
    fence: counted(line.fence),
    trigger: line.trigger === undefined ? undefined : clip(line.trigger, ID_LENGTH_MAX),
    by: line.by === undefined ? undefined : clip(line.by, ID_LENGTH_MAX),
    tokensBefore: counted(line.tokensBefore),
    tokensAfter: counted(line.tokensAfter),
    messagesBefore: counted(line.messagesBefore),
    messagesAfter: counted(line.messagesAfter),
    reason: line.reason === undefined ? undefined : clip(line.reason, TEXT_LENGTH_MAX),
  }
  return inAscii(JSON.stringify(ordered))
}

function listed(ranges: readonly MailRange[] | undefined): readonly MailRange[] | undefined {
  if (ranges === undefined || ranges.length > RANGES_MAX || !ranges.every(isMailRange))
    return undefined
  return ranges.map(({ from, to }) => ({ from, to }))
}

function counted(number: number | undefined): number | undefined {
  return number !== undefined && isCount(number) ? number : undefined
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0)
}

/**
 * Escapes everything but printable ASCII, so that a terminal does not interpret it. In JSON such
 * characters occur only in strings, where the escape means the same.
 */
export function inAscii(text: string): string {
  return text.replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Our own ids are never longer; two long foreign ids must stay distinct when clipped. */
function clipId(id: string): string {
  if (id.length <= ID_LENGTH_MAX) return id
  const mark = `~${digest(id).slice(0, 16)}`
  return clip(id, ID_LENGTH_MAX - mark.length) + mark
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length)
}

const TEXTS: readonly string[] = [
  'log',
  'time',
  'sessionId',
  'operationId',
  'trigger',
  'by',
  'reason',
]
const COUNTS: readonly string[] = [
  'v',
  'line',
  'entry',
  'base',
  'fence',
  'tokensBefore',
  'tokensAfter',
  'messagesBefore',
  'messagesAfter',
]

function findFault(value: JsonObject): string | undefined {
  for (const [name, field] of Object.entries(value)) {
    if (!Object.hasOwn(AUDIT_FIELDS, name)) return 'has a field that is not in the schema'
    if (TEXTS.includes(name) && typeof field !== 'string') return `has no text as ${name}`
    if (COUNTS.includes(name) && !isCount(field)) return `has no whole number as ${name}`
  }
  const {
    kind,
    hash: own,
    mailbox,
    whole = [],
    clipped = [],
  } = value as Readonly<Record<'kind' | 'hash' | 'mailbox' | 'whole' | 'clipped', unknown>>
  if (typeof kind !== 'string' || !Object.hasOwn(AUDIT_KINDS, kind)) return 'is of no known kind'
  if (typeof own !== 'string' || own.length !== HASH_LENGTH) return 'has no hash'
  if (mailbox !== undefined && !isMailRange(mailbox)) return 'has no range as mailbox'
  if (!isRangeList(whole)) return 'has no ranges as whole'
  if (!isRangeList(clipped)) return 'has no ranges as clipped'
  const { needs } = AUDIT_KINDS[kind as AuditLineKind]
  const missing = [...FIELDS_OF_EVERY_LINE, ...needs].find((name) => value[name] === undefined)
  return missing === undefined ? undefined : `is "${kind}" without ${missing}`
}

function isRangeList(value: unknown): boolean {
  return Array.isArray(value) && value.length <= RANGES_MAX && value.every(isMailRange)
}

function isMailRange(value: unknown): boolean {
  const { from, to } = (isObject(value) ? value : {}) as { from?: unknown; to?: unknown }
  return isCount(from) && isCount(to) && from <= to
}
