import { type EntryNumber, entryNumber } from '../../base/ids.ts'
import { isArray, isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { type Handoff, LEDGER_KINDS } from '../../message/handoff/handoff.ts'

/**
 * Parses a preview that a client sends back for installation. The client may have changed it, and
 * every later context is built from it, so it is checked like any untrusted input.
 */
export interface ParsedPreview {
  readonly base: number
  readonly covers: EntryNumber
  readonly tokens: number
  /** Covered input that was unanswered and that the handoff therefore does not keep. */
  readonly carries: readonly EntryNumber[]
  readonly handoff: Handoff
}

const COUNT_MAX = 2 ** 31 - 1

/** Null: not a valid preview. */
export function parsePreview(body: JsonObject): ParsedPreview | null {
  const {
    base,
    covers,
    tokens,
    carries = [],
    handoff,
  } = body as Record<string, JsonValue | undefined>
  const isCounted = isCount(base) && isCount(covers) && isCount(tokens)
  if (!isCounted || !isArray(carries) || !carries.every(isCount) || !isHandoff(handoff)) return null
  return {
    ...{ base, tokens, covers: entryNumber(covers), carries: carries.map(entryNumber) },
    handoff: handoff as unknown as Handoff,
  }
}

function isHandoff(value: JsonValue | undefined): value is JsonObject {
  if (!isObject(value)) return false
  const { version, by, covers, kept, compactions, summary } = value as Named
  return (
    version === 1 &&
    isOneOf(by, ['model', 'digest', 'given']) &&
    [covers, kept, compactions].every(isCount) &&
    typeof summary === 'string' &&
    isListOf(value['preserved'], isPreserved) &&
    isListOf(value['tasks'], isTask) &&
    isListOf(value['files'], isFile) &&
    isListOf(value['ledger'], isLedgerEntry) &&
    (value['omitted'] === undefined || isListOf([value['omitted']], isOmitted)) &&
    (value['rules'] === undefined || isListOf(value['rules'], isRule)) &&
    (value['host'] === undefined || isListOf(value['host'], isHostBlock))
  )
}

function isPreserved({ message, number, state, truncated }: Named): boolean {
  const isKnown = isCount(number) && isOneOf(state, ['answered', 'open'])
  if (!isKnown || !isObject(message) || ![undefined, true].includes(truncated as true)) return false
  return (
    message['role'] === 'user' && isOrigin(message['origin']) && isListOf(message['parts'], isPart)
  )
}

function isPart({ type, text, source, name, provider, value, origin }: Named): boolean {
  if (!isOrigin(origin)) return false
  switch (type) {
    case 'text':
      return typeof text === 'string'
    case 'image':
    case 'file':
      return isSource(source) && isOptionalText(name)
    case 'opaque':
      return typeof provider === 'string' && value !== undefined
    default:
      return false
  }
}

function isSource(source: JsonValue | undefined): boolean {
  if (!isObject(source)) return false
  const { kind, mediaType, data, url, id } = source as Named
  if (kind === 'base64') return typeof mediaType === 'string' && typeof data === 'string'
  return kind === 'url' ? typeof url === 'string' : kind === 'id' && typeof id === 'string'
}

function isOrigin(origin: JsonValue | undefined): boolean {
  if (origin === undefined) return true
  if (!isObject(origin)) return false
  const { format, at, fields, shape, others } = origin as Named
  return (
    typeof format === 'string' &&
    isCount(at) &&
    (fields === undefined || isObject(fields)) &&
    isOptionalText(shape) &&
    (others === undefined || (isArray(others) && others.every(isOrigin)))
  )
}

function isTask({ text, status }: Named): boolean {
  return typeof text === 'string' && isOneOf(status, ['pending', 'running'])
}

function isFile({ path, access, hash, number }: Named): boolean {
  const isKnown = typeof path === 'string' && isOneOf(access, ['read', 'changed'])
  return isKnown && isOptionalText(hash) && isCount(number)
}

function isLedgerEntry({ kind, text, count, number }: Named): boolean {
  return isOneOf(kind, LEDGER_KINDS) && typeof text === 'string' && [count, number].every(isCount)
}

function isOmitted({ from, to, count }: Named): boolean {
  return [from, to, count].every(isCount)
}

function isRule({ text, number, at, supersededBy }: Named): boolean {
  const isKnown = typeof text === 'string' && isCount(number) && isOptionalText(at)
  return isKnown && (supersededBy === undefined || isCount(supersededBy))
}

function isHostBlock({ name, text, number }: Named): boolean {
  return typeof name === 'string' && typeof text === 'string' && isCount(number)
}

type Named = Readonly<Record<string, JsonValue | undefined>>

function isListOf(value: JsonValue | undefined, is: (each: Named) => boolean): boolean {
  return isArray(value) && value.every((each) => isObject(each) && is(each))
}

function isOneOf(value: JsonValue | undefined, known: readonly string[]): boolean {
  return typeof value === 'string' && known.includes(value)
}

function isOptionalText(value: JsonValue | undefined): boolean {
  return value === undefined || typeof value === 'string'
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= COUNT_MAX
}
