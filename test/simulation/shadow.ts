import { isObject, type JsonValue } from '../../packages/core/src/base/json.ts'
import { pinnedMessage } from '../../packages/core/src/message/handoff/pinned.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import type {
  Clears,
  CompactionMeta,
  Entry,
  Limits,
  MailRow,
  OperationRow,
  SessionRow,
} from '../../packages/core/src/store/tables/rows.ts'

/**
 * The expected state of a session, computed by the laws from the entries and mail that were
 * written, one by one. It shares no code with what it checks.
 */
export interface ShadowEntry {
  readonly number: number
  readonly kind: Entry['kind']
  readonly tokens: number
  readonly fence: number
  readonly operation: string
  readonly entry: Entry
  /** What a context must show for this entry, as `wordsOf` returns it; empty: nothing. */
  readonly words: readonly string[]
}

export interface ShadowMail {
  readonly number: number
  readonly lane: MailRow['lane']
  readonly control: string | null
  readonly turnAt: number | null
  readonly body: string | null
  entry: number | null
  state: MailRow['state']
}

export class Shadow {
  readonly id: string
  readonly birth: string
  /** The session that stores a fork's prefix, and where that prefix ends. */
  readonly origin: Shadow | null
  readonly forkedAt: number
  fence = 0
  holder: string | null = null
  runner: string | null = null
  tailHash: string
  seen = 0
  /** What a model had seen when the newest turn ended: input up to here is answered. */
  answered = 0
  turn = 0
  isRunning = false
  /** A step has started and is not committed yet. */
  isCalling = false
  policies = new Set<string>()
  readonly openCalls = new Set<string>()
  readonly entries: ShadowEntry[] = []
  readonly mail: ShadowMail[] = []
  readonly lastOfLane = { user: 0, notification: 0 }
  running: OperationRow | null = null
  /** Claims by a model, by the store's clock at that moment in true time. */
  readonly claims: { readonly id: string; readonly at: number; isCutShort: boolean }[] = []
  recoveredAt = 0
  /** How often its holder was lost in the running turn, since the last step. */
  losses = 0
  isDeleted = false
  /** The tail after the newest erasure: earlier contexts cannot be rebuilt. */
  erasedAt = 0
  /** Entries that another session erased and that no entry of this one names yet. */
  readonly owes = new Set<number>()
  /** The commit of the newest erasure by another session. */
  reachedAt = 0

  /** The limits, each with the entry from which it applies. */
  readonly #limits: { readonly from: number; readonly limits: Limits }[]

  constructor(row: SessionRow, origin: Shadow | null = null) {
    this.#limits = [{ from: 0, limits: row.limits }]
    this.id = row.id
    this.birth = row.birth
    this.tailHash = row.tailHash
    this.policies.add(row.policy)
    this.origin = origin
    this.forkedAt = origin === null ? 0 : row.forkedAt
    if (origin !== null) this.#readFrom(origin)
  }

  /** A fork starts with its prefix, idle: only calls that are open there remain to be closed. */
  #readFrom(origin: Shadow): void {
    this.entries.push(...origin.entries.slice(0, this.forkedAt))
    this.#limits.splice(0, 1, ...origin.#limits.filter(({ from }) => from <= this.forkedAt))
    this.tailHash = this.entries.at(-1)?.entry.hash ?? origin.tailHash
    for (const { entry } of this.entries) {
      if (entry.kind === 'result') this.openCalls.delete(entry.meta.call)
      if (entry.kind !== 'assistant' && entry.kind !== 'turn') continue
      this.turn = Math.max(this.turn, entry.meta.turn)
      if (entry.kind === 'assistant') for (const call of entry.meta.calls) this.openCalls.add(call)
    }
    const { effective } = foldShadow(this, this.tail)
    if (effective?.entry.body === null) this.owes.add(effective.number)
  }

  replace(number: number, change: (entry: Entry) => Entry): void {
    const each = this.entries[number - 1]
    if (each === undefined) return
    const entry = change(each.entry)
    this.entries[number - 1] = { ...each, entry, words: wordsOfEntry(entry) }
  }

  /** The session that stores this entry. */
  keeperOf(number: number): Shadow {
    return this.origin !== null && number <= this.forkedAt ? this.origin.keeperOf(number) : this
  }

  get tail(): number {
    return this.entries.length
  }

  limitsFrom(from: number, limits: Limits): void {
    this.#limits.push({ from, limits })
  }

  limitsAt(upto: number = this.tail): Limits {
    const present = this.#limits.findLast(({ from }) => from <= upto)
    if (present === undefined) throw new Error(`${this.id} has no limits at ${upto}.`)
    return present.limits
  }
}

export interface Folded {
  readonly base: number
  readonly effective: ShadowEntry | null
  readonly covers: number
  /** Covered input that is shown beside the handoff. */
  readonly carries: readonly number[]
  /** Results up to there are counted with so many tokens at most. */
  readonly clears: Clears
  readonly pins: ReadonlyMap<string, ShadowEntry>
  readonly settings: ShadowEntry | null
}

export const CLEARS_NOTHING: Clears = { upto: 0, tokens: Number.POSITIVE_INFINITY }

/** The metadata of the handoff that an entry contains, if any. */
export function handoffOf(entry: Entry | undefined): CompactionMeta | null {
  if (entry?.kind === 'compaction') return entry.meta
  return entry?.kind === 'erasure' ? entry.meta.replaces : null
}

/** The newest handoff at or below this entry that still has a text. */
export function saidBelow(shadow: Shadow, number: number): ShadowEntry | undefined {
  const each = shadow.entries[number - 1]
  return each?.entry.body === null ? saidBelow(shadow, handoffOf(each.entry)?.previous ?? 0) : each
}

/** Decision 1, computed the simplest way: walk over all entries. */
export function foldShadow(shadow: Shadow, upto: number): Folded {
  let base = 0
  let effective = 0
  const pins = new Map<string, ShadowEntry>()
  let settings: ShadowEntry | null = null
  for (let index = 0; index < upto; index++) {
    const each = shadow.entries[index]
    if (each === undefined) break
    const { entry } = each
    if (entry.kind === 'settings') settings = each
    else if (entry.kind === 'compaction') effective = base = each.number
    else if (entry.kind === 'erasure') {
      base = each.number
      if (entry.meta.replaces !== null) effective = each.number
    } else if (entry.kind === 'revert') {
      base = each.number
      effective = entry.meta.previous
    } else if (entry.kind === 'pin') {
      pins.delete(entry.meta.name)
      if (entry.meta.change === 'set') pins.set(entry.meta.name, each)
    }
  }
  const head = shadow.entries[effective - 1]
  const { covers = 0, carries = [], clears = CLEARS_NOTHING } = handoffOf(head?.entry) ?? {}
  return { base, effective: head ?? null, covers, carries, clears, pins, settings }
}

/** What a context as of `upto` must say, in order. */
export function expectedWords(shadow: Shadow, upto: number): string[] {
  const { effective, covers, carries, pins, settings } = foldShadow(shadow, upto)
  const words = [...(settings?.words ?? []), ...[...pins.values()].flatMap((pin) => pin.words)]
  if (effective !== null) words.push(...effective.words)
  for (const number of carries) words.push(...(shadow.entries[number - 1]?.words ?? []))
  for (let index = covers; index < upto; index++) {
    const each = shadow.entries[index]
    if (each === undefined || !isMessage(each)) continue
    const waiting = waitingAt(shadow, index, upto)
    const [more, they] = waiting === 1 ? ['message is', 'it'] : ['messages are', 'they']
    if (waiting > 0) words.push(`user [${waiting} more ${more} waiting; ${they} will follow.]`)
    words.push(...each.words)
  }
  return words
}

/** How many more messages the last of several inputs reports as waiting. */
function waitingAt(shadow: Shadow, index: number, upto: number): number {
  const entry = shadow.entries[index]?.entry
  if (entry?.kind !== 'input' || entry.meta.waiting === undefined) return 0
  const next = shadow.entries.slice(index + 1, upto).find(isMessage)
  return next?.kind === 'input' ? 0 : entry.meta.waiting
}

/** Input that was delivered and that no finished turn has answered. */
export function openInputs(shadow: Shadow, upto: number): readonly ShadowEntry[] {
  return shadow.entries
    .slice(shadow.answered, upto)
    .filter(({ entry }) => entry.kind === 'input' && entry.meta.mail > 0)
}

export function isMessage({ kind }: Pick<ShadowEntry, 'kind'>): boolean {
  return kind === 'input' || kind === 'assistant' || kind === 'result'
}

/** The expected size of a context, clipped by the limits (I33). */
export function expectedTokens(
  shadow: Shadow,
  upto: number,
  /** A hypothetical fold instead of the current one. */
  folded: Folded = foldShadow(shadow, upto),
): number {
  const { inputs, rest } = sizesIn(shadow, upto, folded)
  const limits = shadow.limitsAt(upto)
  let tokens = rest + sum(inputs)
  // The oldest long ones are shortened first.
  for (const size of inputs) {
    if (tokens > roomForWhole(limits)) tokens -= Math.max(0, size - limits.inputTokens)
  }
  return tokens
}

/** Whether a context may show every input whole, however long. */
export function fitsWhole(shadow: Shadow, upto: number): boolean {
  const { inputs, rest } = sizesIn(shadow, upto, foldShadow(shadow, upto))
  return rest + sum(inputs) <= roomForWhole(shadow.limitsAt(upto))
}

function roomForWhole({ hardTokens, outputTokens }: Limits): number {
  return Math.floor(0.8 * (hardTokens - outputTokens))
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0)
}

/** The sizes of the inputs in a context, oldest first, and of everything else in it. */
function sizesIn(
  shadow: Shadow,
  upto: number,
  folded: Folded,
): { readonly inputs: readonly number[]; readonly rest: number } {
  const { effective, covers, carries, clears, pins, settings } = folded
  let tokens = (effective?.tokens ?? 0) + (settings?.tokens ?? 0)
  for (const pin of pins.values()) tokens += pin.tokens
  const limits = shadow.limitsAt(upto)
  const inputs = [...carries]
    .sort((a, b) => a - b)
    .map((number) => shadow.entries[number - 1]?.tokens ?? 0)
  let share = limits.stepTokens
  for (let index = covers; index < upto; index++) {
    const each = shadow.entries[index]
    if (each === undefined) break
    const { entry } = each
    if (entry.kind === 'input') {
      inputs.push(each.tokens)
      if (waitingAt(shadow, index, upto) > 0) tokens += 20
    } else if (entry.kind === 'assistant') {
      tokens += each.tokens
      const room = limits.stepTokens - each.tokens
      share = Math.max(16, Math.floor(room / Math.max(1, entry.meta.calls.length)))
    } else if (entry.kind === 'result') {
      const stub = each.number <= clears.upto ? clears.tokens : Number.POSITIVE_INFINITY
      tokens += Math.min(each.tokens, share, stub)
    }
  }
  return { inputs, rest: tokens }
}

export function wordsOfEntry(entry: Entry): readonly string[] {
  if (entry.body === null) return wordsOfErased(entry)
  const body = JSON.parse(entry.body) as JsonValue
  switch (entry.kind) {
    case 'input':
      return isObject(body) ? wordsOf(body['message'] as unknown as Message) : []
    case 'assistant':
      return wordsOf(body as unknown as Message)
    case 'result':
      return [`result ${entry.meta.call} ${String(body)}`]
    case 'compaction':
    case 'erasure':
      return isObject(body) && 'summary' in body ? [`handoff ${String(body['summary'])}`] : []
    case 'pin':
      return wordsOf(pinnedMessage(entry.meta.name, String(body)))
    case 'settings':
      return isObject(body) && typeof body['system'] === 'string'
        ? [`system ${body['system']}`]
        : []
    default:
      return []
  }
}

/** The text is erased, but not that there was one, nor which calls were made. */
function wordsOfErased(entry: Entry): readonly string[] {
  switch (entry.kind) {
    case 'input':
      return ['user [erased]']
    case 'assistant':
      return ['assistant [erased]', ...entry.meta.calls.map((call) => `call ${call}`)]
    case 'result':
      return [`result ${entry.meta.call} [erased]`]
    case 'pin':
      return entry.meta.change === 'set' ? wordsOf(pinnedMessage(entry.meta.name, '[erased]')) : []
    default:
      return []
  }
}

/** The words in a body; each word occurs once in a run. */
export function wordsIn(body: string | null): readonly string[] {
  return [...(body ?? '').matchAll(/"(w\d+)"/g)].map(([, word]) => word ?? '')
}

/** A message as words that show the speaker; absent parts give none. */
export function wordsOf(message: Message): string[] {
  if (message.role === 'handoff') return [`handoff ${message.handoff.summary}`]
  const words: string[] = []
  const speaker = message.role === 'user' && message.pinned ? 'pinned' : message.role
  for (const part of message.parts) {
    if (part.type === 'text') words.push(`${speaker} ${part.text}`)
    else if (part.type === 'tool-call') words.push(`call ${part.id}`)
    else if (part.type === 'tool-result') {
      const [output] = part.output
      words.push(`result ${part.callId} ${output?.type === 'text' ? output.text : ''}`)
    }
  }
  return words
}
