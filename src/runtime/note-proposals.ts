import { hash } from 'node:crypto'
import type { Auxiliary } from '../auxiliary/auxiliary.ts'
import type { SessionId } from '../base/ids.ts'
import type { HandoffRequest } from '../session/handoff.ts'
import type { Store } from '../store/contract.ts'
import { keepNote, memoryBlock, refreshMemory } from '../tools/memory/memory.ts'
import type { Agent } from './agent.ts'
import type { Logger } from './logger.ts'

/**
 * Before a range is compacted, the task `memory` reads it and proposes notes. A proposal is kept on
 * the terms of a note of the agent's own: one that denies what the transcript holds is refused, and
 * so is one that does not fit. Sessions show it between turns. The compaction waits for none of it.
 */
export interface NoteProposalsParts {
  readonly store: Store
  readonly logger: Logger
  readonly countTokens: (sessionId: SessionId, text: string) => number
}

export class NoteProposals {
  readonly #parts: NoteProposalsParts
  /** Up to where each session was read: a compaction that is tried again proposes nothing new. */
  readonly #read = new Map<SessionId, number>()

  constructor(parts: NoteProposalsParts) {
    this.#parts = parts
  }

  async propose(
    { notes }: Pick<Agent, 'notes'>,
    auxiliary: Auxiliary,
    request: HandoffRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, logger, countTokens } = this.#parts
    const { agent, messages, cut, operation } = request
    const { sessionId, covers } = operation
    if (notes === undefined || covers <= (this.#read.get(sessionId) ?? 0)) return
    if (this.#read.size >= SESSIONS_MAX) this.#read.clear()
    this.#read.set(sessionId, covers)
    const known = memoryBlock(await store.listNotes({ agent, limit: NOTES_READ })) ?? ''
    const asking = { sessionId, signal, known }
    const written = await auxiliary.writeNotes(messages.slice(0, cut), asking)
    if (written.kind !== 'written') {
      const reason = written.kind === 'failed' ? written.reason : written.kind
      logger.info({ sessionId, reason }, 'no notes proposed')
      return
    }
    let kept = 0
    for (const text of written.value) {
      const id = `n-${hash('sha256', text, 'hex').slice(0, 16)}`
      // In no turn: all that was covered was said before.
      const turn = Number.MAX_SAFE_INTEGER
      const call = { sessionId, agent, turn, entry: covers, key: `${operation.id}-${id}` }
      const outcome = await keepNote({ store, countTokens, ...notes }, call, { id, text })
      if (outcome.kind === 'noted') kept++
    }
    logger.info({ sessionId, proposed: written.value.length, kept }, 'notes proposed')
    if (kept === 0) return
    const target = { sessionId, agent, key: `${operation.id}-notes` }
    const shown = await refreshMemory({ store, countTokens }, target)
    if (shown !== null && shown.kind !== 'admitted' && shown.kind !== 'duplicate') {
      logger.warn({ sessionId, why: shown.kind }, 'notes are not shown')
    }
  }
}

const NOTES_READ = 500
const SESSIONS_MAX = 10_000
