import type { JsonObject, JsonValue } from '../base/json.ts'
import { checkFunction, checkKeys, checkText } from '../base/option-checks.ts'
import { ThroughlineError } from '../base/throughline-error.ts'

/**
 * One turn of a framework under a key. Run again under the same key, it goes on where it stopped: an
 * answer that was kept is not asked for again, and a tool that ended does not run again.
 */
export interface DurableRun {
  readonly key: string
  /**
   * Does `work` once for each name and keeps what it returned. If an earlier attempt began it and did not
   * end it, it throws `outcome-unknown`; with `repeatable` it does the work again instead. Dates and bytes
   * are kept as what they are, everything else as JSON. An error is kept too, unless it is repeatable.
   */
  once<Value>(
    name: string,
    work: () => Value | Promise<Value>,
    how?: { readonly repeatable?: boolean },
  ): Promise<Value>
  /** How often this name was used in this run before: what tells calls with the same id apart. */
  count(name: string): number
}

/** What a run needs of its conversation. */
export interface RunRecords {
  record(
    key: string,
    bodies: readonly JsonObject[],
  ): Promise<{ readonly kind: string; readonly entry: number }>
  recordsAfter(entry: number): Promise<readonly JsonObject[]>
}

export function durableRun(records: RunRecords, key: string): DurableRun {
  const counts = new Map<string, number>()
  const keyOf = (what: string, name: string) => `run\n${key}\n${what}\n${name}`
  const endsAfter = async (entry: number) => {
    const ends = new Map<string, JsonObject>()
    for (const each of await records.recordsAfter(entry)) {
      const { run, end } = each
      // The first one counts: if two processes end the same call, both continue with the same outcome.
      if (run === key && typeof end === 'string' && !ends.has(end)) ends.set(end, each)
    }
    return ends
  }
  let known: Promise<Map<string, JsonObject>> | undefined
  const load = async () => {
    const { entry } = await records.record(keyOf('start', ''), [{ run: key }])
    return await endsAfter(entry)
  }
  const end = async <Value>(name: string, outcome: JsonObject): Promise<Value | undefined> => {
    const { kind, entry } = await records.record(keyOf('end', name), [
      { run: key, end: name, ...outcome },
    ])
    if (kind === 'recorded') return undefined
    const first = (await endsAfter(entry - 1)).get(name)
    return first && outcomeIn<Value>(first)
  }
  return {
    key,
    count(name) {
      const before = counts.get(name) ?? 0
      counts.set(name, before + 1)
      return before
    },
    async once<Value>(
      name: string,
      work: () => Value | Promise<Value>,
      how: { readonly repeatable?: boolean } = {},
    ) {
      checkText('name', name)
      checkFunction('work', work)
      checkKeys(how, ['repeatable'], 'how')
      const { repeatable = false } = how
      known ??= load()
      const kept = (await known).get(name)
      if (kept !== undefined) return outcomeIn<Value>(kept)
      if (!repeatable) {
        const begun = await records.record(keyOf('begin', name), [{ run: key, begin: name }])
        if (begun.kind !== 'recorded') {
          const ended = (await endsAfter(begun.entry)).get(name)
          if (ended !== undefined) return outcomeIn<Value>(ended)
          throw unknownOutcome(name)
        }
      }
      let value: Value
      let encoded: JsonValue
      try {
        value = await work()
        encoded = encode(value)
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        if (!repeatable) await end(name, { error: text.toWellFormed() })
        throw error
      }
      return (await end<Value>(name, { value: encoded })) ?? value
    },
  }
}

function unknownOutcome(name: string): ThroughlineError {
  return new ThroughlineError(
    'outcome-unknown',
    `An earlier attempt began "${name}" and did not end. Whether it took effect is not known, so it was ` +
      'not done again.',
    { at: name },
  )
}

function outcomeIn<Value>({ value, error }: JsonObject): Value {
  if (typeof error === 'string') throw new Error(error)
  return decode(value ?? null) as Value
}

/** The bodies of a store may be nested 256 deep, and a value is not the whole of one. */
const DEPTH_MAX = 250

/** JSON, with dates and bytes as objects of one key; other such objects are wrapped once more. */
export function encode(value: unknown, depth = 0): JsonValue {
  if (depth > DEPTH_MAX) throw cannotKeep('What is nested so deep, or contains itself,')
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean') return value
  if (value instanceof Date) return { $date: value.toISOString() }
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') }
  if (Array.isArray(value)) return value.map((each) => encode(each, depth + 1))
  if (typeof value !== 'object') throw cannotKeep(`A ${typeof value}`)
  // As JSON they would be empty objects.
  if (value instanceof Map || value instanceof Set) throw cannotKeep(`A ${value.constructor.name}`)
  const plain = 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value
  if (plain !== value) return encode(plain, depth + 1)
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  const object = Object.fromEntries(
    entries.map(([name, each]) => [name.toWellFormed(), encode(each, depth + 1)]),
  )
  const [only] = Object.keys(object)
  return entries.length === 1 && only?.startsWith('$') === true ? { $plain: object } : object
}

function cannotKeep(what: string): ThroughlineError {
  return new ThroughlineError(
    'unserialisable-output',
    `${what} cannot be kept. Return a string or plain data.`,
  )
}

export function decode(value: JsonValue): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(decode)
  const { $date, $bytes, $plain } = value as JsonObject
  if (typeof $date === 'string') return new Date($date)
  if (typeof $bytes === 'string') return new Uint8Array(Buffer.from($bytes, 'base64'))
  const inner = ($plain ?? value) as JsonObject
  return Object.fromEntries(Object.entries(inner).map(([name, each]) => [name, decode(each)]))
}
