import { type EntryNumber, entryNumber } from '../../base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Handoff } from '../../message/handoff/handoff.ts'
import { pinnedMessage } from '../../message/handoff/pinned.ts'
import type { Message, ToolMessage, ToolResultPart, UserMessage } from '../../message/message.ts'
import { WAITING_NOTE_TOKENS } from '../../store/bounds.ts'
import { compactionMetaOf } from '../../store/fold.ts'
import { parseBody } from '../../store/integrity/damaged-row.ts'
import type { ContextEntries } from '../../store/queries.ts'
import type { Clears, Entry, Limits } from '../../store/tables/rows.ts'
import { assistantMessage, ERASED, inputMessage, resultPart } from './entry-message.ts'
import {
  type ContextPiece,
  clipped,
  fitInputs,
  type ResultSize,
  resultSizes,
  sum,
} from './piece.ts'

/**
 * The context is a pure fold of the store's data as of an entry into messages. It has no other
 * input, so the same entries always give the same context (decision 1).
 *
 *   system text · pins · handoff · covered but unanswered input · every message after the range
 *
 * Only the settings have the system role. Text of a person or a model keeps the role of its entry,
 * whatever its body says.
 *
 * Sizes are the counts stored with the entries. A result above its share of the step bound is shown
 * with its two ends and a reference, and so is an input above the input bound if it does not fit
 * whole; this makes P + H + U + T + O a real bound (I33).
 */
export interface Context {
  readonly upto: EntryNumber
  readonly effective: EntryNumber
  readonly covers: EntryNumber
  /** Results that are shortened more than their share of a step demands. */
  readonly clears?: Clears
  /** The operator's system text, followed by the pins, which have the user role. */
  readonly system: readonly ContextPiece[]
  /** The newest settings, none or one. */
  readonly settings: readonly { readonly body: JsonObject; readonly tokens: number }[]
  readonly handoff: ContextPiece | null
  readonly pieces: readonly ContextPiece[]
  /** The same pieces with every input whole, if one was shortened. */
  readonly unclipped?: readonly ContextPiece[]
  /** The newest revert after the covered range; 0: none. */
  readonly reverted: EntryNumber
  readonly tokens: number
}

/** The body of an input. */
export interface InputBody {
  readonly message: UserMessage
  readonly replyTo?: { readonly edge: string; readonly address: string }
}

const NO_ENTRY = entryNumber(0)
const RESULT_TOKENS_MIN = 16

export function buildContext(
  source: ContextEntries,
  limits: Limits,
  upto: EntryNumber,
  /** `whole`: also those that a clearing shortened, for a handoff that is to mention them. */
  results: 'as shown' | 'whole' = 'as shown',
): Context {
  const { effective, covers, entries } = source
  const system: ContextPiece[] = []
  const pins = new Map<string, ContextPiece>()
  const pieces = new PieceList([], limits)
  const settings: { body: JsonObject; tokens: number }[] = []
  const inEffect = entries.find(({ number }) => number === effective)
  const meta = inEffect && compactionMetaOf(inEffect)
  const carries = new Set(meta?.carries ?? [])
  const clears = results === 'whole' ? undefined : meta?.clears
  let systemText: ContextPiece | undefined
  let handoff: ContextPiece | null = null
  let reverted = NO_ENTRY
  for (const entry of entries) {
    if (entry.number === effective) handoff = handoffPiece(entry)
    switch (entry.kind) {
      case 'settings':
        systemText = systemPiece(entry)
        settings[0] = { body: objectOf(entry), tokens: entry.tokens }
        break
      case 'pin':
        pins.delete(entry.meta.name)
        if (entry.meta.change === 'set') pins.set(entry.meta.name, pinPiece(entry))
        break
      case 'revert':
        reverted = entry.number
        break
      case 'input':
      case 'assistant':
      case 'result':
        if (entry.number > covers) pieces.addMessage(entry, clears)
        else if (entry.kind === 'input' && carries.has(entry.number)) pieces.addInput(entry)
        break
      default:
        break
    }
  }
  if (systemText !== undefined) system.push(systemText)
  system.push(...pins.values())
  return {
    upto,
    effective,
    covers,
    ...(clears !== undefined && { clears }),
    system,
    settings,
    handoff,
    reverted,
    ...fitInputs(pieces.all, sum(system) + (handoff?.tokens ?? 0), limits),
  }
}

/**
 * Continues a context with later entries; null if one of them requires building it from the store.
 */
export function continueContext(
  context: Context,
  entries: readonly Entry[],
  limits: Limits,
): Context | null {
  const { clears: _, unclipped, ...rest } = context
  let { effective, covers, clears, handoff, reverted } = context
  let { system, settings } = context
  let pieces = new PieceList(unclipped ?? context.pieces, limits)
  for (const entry of entries) {
    switch (entry.kind) {
      case 'settings': {
        // Those of a new session. Later ones may show the messages before them otherwise.
        if (pieces.all.length > 0 || system.length > 0 || settings.length > 0 || handoff !== null) {
          return null
        }
        const systemText = systemPiece(entry)
        system = systemText === undefined ? [] : [systemText]
        settings = [{ body: objectOf(entry), tokens: entry.tokens }]
        break
      }
      case 'input':
      case 'assistant':
      case 'result':
        pieces.addMessage(entry)
        break
      case 'compaction':
        // A clearing shortens what was shown whole.
        if (entry.meta.covers < covers || entry.meta.by === 'clearing') return null
        covers = entryNumber(entry.meta.covers)
        effective = entry.number
        clears = entry.meta.clears
        handoff = handoffPiece(entry)
        pieces = new PieceList(piecesBeside(pieces.all, covers, entry.meta.carries ?? []), limits)
        // Their reply is covered, and perhaps some of them, so their current shares are unknown
        // here.
        if (beginsWithResults(pieces.all)) return null
        if (reverted <= covers) reverted = NO_ENTRY
        break
      case 'revert':
      case 'erasure':
      case 'pin':
        return null
      default:
        break
    }
  }
  const upto = entries.at(-1)?.number ?? context.upto
  const fitted = fitInputs(pieces.all, sum(system) + (handoff?.tokens ?? 0), limits)
  const next = { ...rest, upto, effective, covers, system, settings, handoff, reverted, ...fitted }
  return clears === undefined ? next : { ...next, clears }
}

/** The size of the context once a handoff of that size is in effect. */
export function tokensBeside(
  context: Context,
  handoff: {
    readonly covers: number
    readonly carries: readonly number[]
    readonly tokens: number
  },
  limits: Limits,
): number {
  const { unclipped = context.pieces, system } = context
  const pieces = piecesBeside(unclipped, handoff.covers, handoff.carries)
  return fitInputs(pieces, sum(system) + handoff.tokens, limits).tokens
}

/** The messages after a handoff: everything not covered, and the input that it carries. */
function piecesBeside(
  pieces: readonly ContextPiece[],
  covers: number,
  carries: readonly number[],
): ContextPiece[] {
  const carried = new Set(carries)
  return pieces.filter(
    ({ number, mail }) => number > covers || (mail !== undefined && carried.has(number)),
  )
}

function beginsWithResults(pieces: readonly ContextPiece[]): boolean {
  return pieces.find(({ message }) => message.role !== 'user')?.message.role === 'tool'
}

export function messagesOf(context: Context): readonly Message[] {
  return visiblePieces(context).map((piece) => piece.message)
}

/** The pieces that the model is shown, in order. */
export function visiblePieces({ system, handoff, pieces }: Context): readonly ContextPiece[] {
  return [...system, ...(handoff === null ? [] : [handoff]), ...pieces].filter(
    ({ message }) => message.role === 'handoff' || message.parts.length > 0,
  )
}

/** The entries that a piece was made from. */
export function pieceEntries(piece: ContextPiece): readonly EntryNumber[] {
  return resultSizes(piece).map(({ number }) => number)
}

/** The pieces of a context that is being built. A step may have any number of results. */
class PieceList {
  readonly all: ContextPiece[]
  readonly #limits: Limits
  /** Of the newest reply; undefined: not counted yet. */
  #share: number | undefined
  /** The results of the newest step, in lists that belong to this piece alone. */
  #step: { piece: ContextPiece; parts: ToolResultPart[]; results: ResultSize[] } | undefined

  constructor(pieces: readonly ContextPiece[], limits: Limits) {
    this.all = [...pieces]
    this.#limits = limits
  }

  addMessage(entry: Entry & { kind: 'input' | 'assistant' | 'result' }, clears?: Clears): void {
    const { number } = entry
    switch (entry.kind) {
      case 'input': {
        const { waiting } = entry.meta
        // The mail that was left waiting has arrived.
        const isNext = this.all.at(-1)?.message.role === 'user'
        if (isNext && this.all.at(-2)?.isNote === true) this.all.splice(-2, 1)
        // Before the message: the newest request stays last.
        if (waiting !== undefined) this.all.push(waitingNote(number, waiting))
        this.addInput(entry)
        return
      }
      case 'assistant': {
        const message = assistantMessage(parseBody('entry', entry), entry.meta.calls)
        const { tokens, body } = entry
        this.all.push({ number, message, tokens, ...(body === null && { isErased: true }) })
        this.#share = undefined
        return
      }
      case 'result': {
        this.#share ??= resultShare(this.all, this.#limits)
        const isCleared = clears !== undefined && number <= clears.upto
        const share = isCleared ? Math.min(this.#share, clears.tokens) : this.#share
        const body = entry.body === null ? ERASED : parseBody('entry', entry)
        const part = resultPart(body, entry.meta)
        const single: ToolMessage = { role: 'tool', parts: [part] }
        this.#addResult(clipped({ number, message: single, tokens: entry.tokens }, share))
        return
      }
      default:
        entry satisfies never
    }
  }

  addInput(entry: Entry & { kind: 'input' }): void {
    this.all.push(inputPiece(entry))
  }

  /** The results of one step are one message, even if recovery wrote some of them earlier. */
  #addResult(piece: ContextPiece): void {
    const last = this.all.at(-1)
    if (last?.message.role !== 'tool' || piece.message.role !== 'tool') {
      this.all.push(piece)
      return
    }
    const { parts, results } =
      this.#step?.piece === last
        ? this.#step
        : { parts: [...last.message.parts], results: [...resultSizes(last)] }
    const { number, tokens } = piece
    parts.push(...piece.message.parts)
    results.push({ number, tokens })
    const joined: ContextPiece = {
      ...{ number, results, message: { role: 'tool', parts } },
      tokens: last.tokens + tokens,
    }
    this.all[this.all.length - 1] = joined
    this.#step = { piece: joined, parts, results }
  }
}

function inputPiece(entry: Entry & { kind: 'input' }): ContextPiece {
  const { number, tokens, meta } = entry
  const { lane, mail, waiting } = meta
  const message = inputMessage(parseBody('entry', entry), lane)
  const piece = { number, message, tokens }
  // Adopted input was never mail.
  if (mail === 0) return piece
  return { ...piece, mail: { lane, number: mail, ...(waiting !== undefined && { waiting }) } }
}

/** Tells the model that more messages are waiting. */
function waitingNote(number: EntryNumber, waiting: number): ContextPiece {
  const text =
    waiting === 1
      ? '[1 more message is waiting; it will follow.]'
      : `[${waiting} more messages are waiting; they will follow.]`
  const message: UserMessage = { role: 'user', synthetic: true, parts: [{ type: 'text', text }] }
  return { number, message, tokens: WAITING_NOTE_TOKENS, isNote: true }
}

/** The share of one result in the step bound: an equal part of what the reply leaves. */
function resultShare(pieces: readonly ContextPiece[], limits: Limits): number {
  const reply = pieces.findLast((piece) => piece.message.role === 'assistant')
  const calls =
    reply?.message.role === 'assistant'
      ? reply.message.parts.filter((part) => part.type === 'tool-call').length
      : 1
  const room = limits.stepTokens - (reply?.tokens ?? 0)
  return Math.max(RESULT_TOKENS_MIN, Math.floor(room / Math.max(1, calls)))
}

/** The body of a clearing where no handoff was in effect. */
export const NO_HANDOFF: JsonObject = {}

function handoffPiece(entry: Entry): ContextPiece | null {
  const body = parseBody('entry', entry)
  if (isObject(body) && Object.keys(body).length === 0) return null
  const handoff = body as unknown as Handoff
  return { number: entry.number, message: { role: 'handoff', handoff }, tokens: entry.tokens }
}

function pinPiece(entry: Entry & { kind: 'pin' }): ContextPiece {
  const body = parseBody('entry', entry)
  const text = typeof body === 'string' ? body : ERASED
  const { number, tokens, meta } = entry
  return { number, message: pinnedMessage(meta.name, text), tokens }
}

/**
 * Its size is that of all settings, with or without text, because it includes the tool
 * descriptions. The system text of an imported file is a record, not the operator's text.
 */
function systemPiece(entry: Entry): ContextPiece {
  const { system: text, importedFrom } = objectOf(entry)
  const isGiven = typeof text === 'string' && text !== '' && importedFrom === undefined
  const message: Message = { role: 'system', parts: isGiven ? [{ type: 'text', text }] : [] }
  return { number: entry.number, message, tokens: entry.tokens }
}

function objectOf(entry: Entry): JsonObject {
  const body = parseBody('entry', entry)
  return isObject(body) ? body : {}
}

/** Where the answer to an input goes, if the input names a destination. */
export function replyToOf(entry: Entry): InputBody['replyTo'] | undefined {
  if (entry.kind !== 'input') return undefined
  const body = parseBody('entry', entry)
  const place = isObject(body) ? body['replyTo'] : undefined
  if (!isObject(place)) return undefined
  const { edge, address } = place as { edge?: JsonValue; address?: JsonValue }
  return typeof edge === 'string' && typeof address === 'string' ? { edge, address } : undefined
}
