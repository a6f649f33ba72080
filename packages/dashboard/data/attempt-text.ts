import type { LiveEvent } from '../../server/src/runtime/events/runtime-event.ts'
import { listen } from './events.ts'

/**
 * What is being written, in every session, and what a turn waits for: whoever opens one in the middle
 * of an answer sees it from its first word, and whoever opens one that waits is told. It is
 * provisional, and goes with its commit, its turn or the connection.
 */
export interface Attempt {
  readonly id: string
  readonly step: number
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly string[]
}

export type Notice = Extract<LiveEvent, { kind: 'notice' }>

const bySession = new Map<string, readonly Attempt[]>()
/** The newest that a person was told. */
const notices = new Map<string, Notice>()

export const writingIn = (sessionId: string): readonly Attempt[] => bySession.get(sessionId) ?? []

export const noticeIn = (sessionId: string): Notice | null => notices.get(sessionId) ?? null

export function followWriting(): void {
  listen((event) => {
    if (event.type === 'broken') {
      bySession.clear()
      notices.clear()
    } else if (event.type === 'live') {
      const { sessionId } = event
      if (event.kind === 'notice') notices.set(sessionId, event)
      else bySession.set(sessionId, withPiece(writingIn(sessionId), event))
    } else if (event.type === 'stored') {
      const { sessionId, kind, facts } = event
      if (kind === 'step committed' || kind === 'turn ended') {
        // What is live overtakes what is stored: the next step may be writing already.
        const left = writingIn(sessionId).filter(({ step }) => step >= Number(facts['entry']))
        if (left.length > 0) bySession.set(sessionId, left)
        else bySession.delete(sessionId)
      }
    }
  })
}

export function withPiece(
  attempts: readonly Attempt[],
  event: Exclude<LiveEvent, { kind: 'notice' }>,
): readonly Attempt[] {
  const { attempt: id, step } = event
  // Two attempts at one step are never both true.
  const others = attempts.filter((each) => each.id !== id && each.step !== step)
  if (event.kind === 'void') return others
  const known = attempts.find((each) => each.id === id)
  const old = known ?? { id, step, text: '', reasoning: '', calls: [] }
  const next: Attempt =
    'tool' in event
      ? { ...old, calls: [...old.calls, event.tool] }
      : event.kind === 'delta'
        ? { ...old, text: old.text + event.text }
        : { ...old, reasoning: old.reasoning + event.text }
  return [...others, next]
}
