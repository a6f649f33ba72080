import { hash } from 'node:crypto'
import type { SessionId } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import { Recent } from '#core/base/recent'
import type { HandoffRequest } from '#core/session/handoff'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import { PROPOSED } from '#core/store/operational-rows'
import type { OperationRow } from '#core/store/tables/rows'
import type { Auxiliary } from '../../auxiliary/auxiliary.ts'
import { memoryBlock } from '../../tools/memory/block.ts'
import { keepNote, refreshMemory } from '../../tools/memory/memory.ts'
import { readNotes } from '../../tools/memory/visible.ts'
import type { Agent } from '../agent.ts'

/**
 * Before a range is compacted, the task `memory` reads it and proposes notes. A proposal follows
 * the rules of the agent's own notes: it is refused if it contradicts the transcript or does not
 * fit. Sessions show it between turns. The compaction does not wait for it.
 */
export interface NoteProposalsParts {
  readonly store: Store
  readonly logger: Logger
  readonly countTokens: (sessionId: SessionId, text: string) => number
}

type NoteWriter = Pick<Auxiliary, 'writeNotes'>

const SESSIONS_MAX = 10_000

export class NoteProposals {
  readonly #parts: NoteProposalsParts
  /**
   * How far each session was read: a retried compaction proposes nothing new, unless nothing was
   * written before. Kept for the most recently used sessions; an evicted one is read once more.
   */
  readonly #read = new Recent<SessionId, number>(SESSIONS_MAX)

  constructor(parts: NoteProposalsParts) {
    this.#parts = parts
  }

  async propose(
    { notes }: Pick<Agent, 'notes'>,
    auxiliary: NoteWriter,
    request: HandoffRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { sessionId, covers } = request.operation
    const readBefore = this.#read.get(sessionId) ?? 0
    if (notes === undefined || covers <= readBefore) return
    this.#read.set(sessionId, covers)
    let isWritten = false
    try {
      isWritten = await this.#write(notes, auxiliary, request, signal)
    } finally {
      // Unless a longer range is being read in the meantime.
      if (!isWritten && this.#read.get(sessionId) === covers) this.#read.set(sessionId, readBefore)
    }
  }

  /** False: nothing was written; a retry is allowed. */
  async #write(
    notes: NonNullable<Agent['notes']>,
    auxiliary: NoteWriter,
    { agent, messages, cut, operation }: HandoffRequest,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { store, logger, countTokens } = this.#parts
    const { sessionId, covers } = operation
    const { commits } = await store.readStore()
    const session = await store.findSession(sessionId)
    if (session === undefined) return false
    const known = memoryBlock(await readNotes(store, session, notes)) ?? ''
    const options = { sessionId, signal, known }
    const written = await auxiliary.writeNotes(messages.slice(0, cut), options)
    if (written.kind !== 'written') {
      const reason = written.kind === 'failed' ? written.reason : written.kind
      logger.info({ sessionId, reason }, 'no notes proposed')
      return false
    }
    if (await this.#isErasedSince(commits, operation)) {
      logger.info({ sessionId, reason: 'erased meanwhile' }, 'no notes proposed')
      return false
    }
    const kept: string[] = []
    for (const text of written.value) {
      const id = `${PROPOSED}${hash('sha256', text, 'hex').slice(0, 16)}`
      // Not part of a turn: everything covered was said earlier.
      const turn = Number.MAX_SAFE_INTEGER
      const call = { sessionId, agent, turn, entry: covers, key: `${operation.id}-${id}` }
      const outcome = await keepNote({ store, countTokens, ...notes }, call, { id, text })
      if (outcome.kind === 'noted') kept.push(id)
    }
    // An erasure between the check above and the commit of a note has not seen that note.
    if (await this.#isErasedSince(commits, operation)) {
      const { scope } = session
      for (const id of kept) await store.removeNote({ agent, scope, id })
      logger.info({ sessionId, reason: 'erased meanwhile' }, 'no notes proposed')
      return false
    }
    logger.info({ sessionId, proposed: written.value.length, kept: kept.length }, 'notes proposed')
    if (kept.length === 0) return true
    const target = { sessionId, agent, key: `${operation.id}-notes` }
    const refreshed = await refreshMemory({ store, countTokens, ...notes }, target)
    if (refreshed !== null && refreshed.kind !== 'admitted' && refreshed.kind !== 'duplicate') {
      logger.warn({ sessionId, why: refreshed.kind }, 'notes are not shown')
    }
    return true
  }

  /** The source may have been erased by now, and no note may restore it. */
  async #isErasedSince(after: number, { id, sessionId }: OperationRow): Promise<boolean> {
    const { store } = this.#parts
    // An erasure between reading the range and now has ended the compaction.
    if ((await store.findOperation(id))?.state === 'superseded') return true
    const rows = await store.readAudit({ sessionId, after, limit: LIST_MAX })
    return rows.length === LIST_MAX || rows.some(({ kind }) => kind === 'entries erased')
  }
}
