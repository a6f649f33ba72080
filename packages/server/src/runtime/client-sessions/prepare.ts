import { randomBytes } from 'node:crypto'
import { entryNumber, type SessionId } from '#core/base/ids'
import type { JsonValue } from '#core/base/json'
import type { SummaryWriter } from '#core/compaction/summary/summary-writer'
import { buildContext } from '#core/session/context/build'
import { readRange } from '#core/session/context/source'
import type { HandoffReply } from '#core/session/handoff'
import { limitsFor } from '#core/session/limits'
import type { MadeElsewhere } from '#core/session/view/adopted-compaction'
import type { Store } from '#core/store/contract'
import { pathTo } from '#core/store/fold'
import type { Entry, Limits } from '#core/store/tables/rows'
import type { Placed } from '../../proxy/history.ts'
import { locate } from '../../proxy/history.ts'
import { type Cut, chooseCut, coveredNotes } from '../../proxy/outgoing.ts'
import { ancestorAt, type Boundary, boundariesOf, type UnitNode } from '../../proxy/unit-tree.ts'
import type { HandoffThread } from '../handoff-thread/handoff-thread.ts'
import { handoffText } from './handoff-text.ts'
import type { StoredSession } from './stored-session.ts'

/**
 * Shares of the model's window. Smaller handoffs and tails save little, because tools take most of
 * it.
 */
const KEEP_SHARE = 0.05
const HANDOFF_SHARE = 0.06

export interface PrepareTerms {
  readonly store: Store
  readonly thread: HandoffThread
  readonly windowTokens: number
  readonly tokensPerByte: number
  readonly wireName: string
  readonly now: () => number
  readonly summarize?: SummaryWriter
  /** Covers the whole history, for a client that asks for its compaction. */
  readonly isWhole?: true
  /** A request waits for it. */
  readonly isUrgent?: true
}

export type Prepared =
  | { readonly kind: 'installed'; readonly entry: number; readonly token?: string }
  | { readonly kind: 'failed'; readonly reason: string }

/**
 * Prepares the next boundary over a fixed part of a history, in parallel with the requests: they
 * are sent with the current boundary until the new one is in the store.
 */
export async function prepareBoundary(
  session: StoredSession,
  placed: Placed,
  terms: PrepareTerms,
): Promise<Prepared> {
  const startedAt = terms.now()
  const { undos } = session.tree
  const end = locate(session.tree, placed)
  const beyond = boundariesOf(end)[0]
  const cut = terms.isWhole ? wholeCut(placed, end) : tailCut(placed, beyond?.depth ?? 0, terms)
  if (cut === null) return { kind: 'failed', reason: 'nothing-to-cover' }
  if (beyond?.depth === cut.depth && isUsable(beyond.boundary, terms)) {
    return installed(beyond.boundary)
  }
  const node = ancestorAt(end, cut.depth)
  if (node === null || node.entry === null) return { kind: 'failed', reason: 'not-recorded' }
  const covers = node.entry
  const upto = end.entry ?? covers
  const written = await write(session, { covers, upto }, terms)
  if (written.kind === 'failed') return written
  const { notes, items: ranked } = coveredNotes(placed, cut.index)
  const handoffItem = placed.history.wire.writeHandoff(handoffText(written.handoff), notes)
  const sent = {
    wire: terms.wireName,
    items: [...ranked, handoffItem].join(','),
    token: randomBytes(24).toString('base64url'),
  }
  const sizes = await readSizes(terms.store, session.id, { covers, tokens: written.tokens })
  const made: MadeElsewhere = { ...whyMade(terms), startedAt, ...sizes }
  const body = { ...written.handoff, sent, made } as unknown as JsonValue
  const by = written.handoff.by === 'digest' ? 'digest' : 'model'
  const isInstalled = await session.append(() => {
    const { head } = session.tree
    // The client has gone back to before it, another boundary covers more by now, or someone has
    // undone a handoff meanwhile and wants the messages themselves.
    const deepest = boundariesOf(head)[0]?.depth ?? 0
    if (!isOnPath(head, node) || deepest > node.depth) return null
    if (terms.isWhole !== true && session.tree.undos !== undos) return null
    const base = { kind: 'compaction', row: null, at: terms.now(), tokens: written.tokens } as const
    return { ...base, covers: entryNumber(covers), by, body }
  })
  const { boundary } = node
  if (!isInstalled || boundary === null) return { kind: 'failed', reason: 'left-behind' }
  return installed(boundary)
}

function installed({ entry, token }: Boundary): Prepared {
  return { kind: 'installed', entry, ...(token !== undefined && { token }) }
}

/** A client that asks for its compaction gets the token, which handoffs of version 0.2 do not have. */
function isUsable({ token }: Boundary, { isWhole }: PrepareTerms): boolean {
  return isWhole !== true || token !== undefined
}

/** For the list of compactions: why it was made. */
function whyMade({ isWhole, isUrgent }: PrepareTerms): Pick<MadeElsewhere, 'trigger' | 'reason'> {
  if (isWhole === true) return { trigger: 'manual', reason: ASKED_BY_CLIENT }
  if (isUrgent === true) return { trigger: 'preflight', reason: 'the request would not fit' }
  return { trigger: 'background', reason: 'the conversation fills most of the window' }
}

/** The client replaced its own history by this handoff and no longer sends what it covers. */
export const ASKED_BY_CLIENT = 'the client asked for it'

/** The context before a handoff and behind it, by the sizes of its messages. */
async function readSizes(
  store: Store,
  sessionId: SessionId,
  handoff: { readonly covers: number; readonly tokens: number },
): Promise<Pick<MadeElsewhere, 'tokensBefore' | 'tokensAfter'>> {
  const source = await store.readContext({ sessionId })
  if (source === null) return { tokensBefore: 0, tokensAfter: 0 }
  const {
    tokens,
    handoff: before,
    pieces,
  } = buildContext(source, source.limits, source.session.tail)
  const left = pieces.filter(({ number }) => number <= handoff.covers)
  const replaced = left.reduce((sum, piece) => sum + piece.tokens, before?.tokens ?? 0)
  return { tokensBefore: tokens, tokensAfter: tokens - replaced + handoff.tokens }
}

function tailCut(placed: Placed, beyond: number, terms: PrepareTerms): Cut | null {
  const keepBytes = (terms.windowTokens * KEEP_SHARE) / terms.tokensPerByte
  return chooseCut(placed, { keepBytes, beyond })
}

function wholeCut({ history }: Placed, end: UnitNode): Cut | null {
  if (end.depth === 0) return null
  return { index: history.items.length - 1, depth: end.depth, tailBytes: 0 }
}

function isOnPath(head: UnitNode, node: UnitNode): boolean {
  return ancestorAt(head, node.depth) === node
}

async function write(
  session: StoredSession,
  { covers, upto }: { readonly covers: number; readonly upto: number },
  { store, thread, windowTokens, summarize, isWhole }: PrepareTerms,
): Promise<HandoffReply> {
  const entries = await readRange(store, session.id, 0, upto)
  const reverts = entries.filter(({ kind }) => kind === 'revert')
  const isVisible = pathTo(reverts, upto)
  const path = entries.filter((entry) => isConversation(entry) && isVisible(entry.number))
  const limits = handoffLimits(windowTokens)
  const wanted = isWhole === true ? { isWanted: true as const } : {}
  const order = { entries: path, covers, upto: entryNumber(upto), limits, ...wanted }
  const job = { kind: 'client', order } as const
  const reply = summarize && (await thread.write(job, { summarize }))
  // If no model wrote a summary, the digest is used, because the conversation must continue.
  return reply?.kind === 'written' ? reply : await thread.write(job)
}

export function isConversation({ kind }: Entry): boolean {
  return kind === 'input' || kind === 'assistant' || kind === 'result'
}

export function handoffLimits(windowTokens: number): Limits {
  const limits = limitsFor({ windowTokens, fixedTokens: 0 })
  return { ...limits, handoffTokens: Math.floor(windowTokens * HANDOFF_SHARE) }
}
