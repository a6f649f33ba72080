import type { LiveEvent } from '../../core/src/session/events/runtime-event.ts'
import { listen } from './events.ts'

/**
 * The text that models are writing, per session, and the newest notice of a waiting turn. A session
 * that is opened in the middle of an answer shows it from its first word. All of it is provisional
 * and is dropped with its commit, its turn or the connection.
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
/** The newest notice of each session. */
const notices = new Map<string, Notice>()

export const attemptsIn = (sessionId: string): readonly Attempt[] => bySession.get(sessionId) ?? []

export const noticeIn = (sessionId: string): Notice | null => notices.get(sessionId) ?? null

export function followAttempts(): void {
  listen((event) => {
    if (event.type === 'broken') {
      bySession.clear()
      notices.clear()
    } else if (event.type === 'live') {
      const { sessionId } = event
      if (event.kind === 'notice') notices.set(sessionId, event)
      else bySession.set(sessionId, withPiece(attemptsIn(sessionId), event))
    } else if (event.type === 'stored') {
      const { sessionId, kind, facts } = event
      if (kind === 'step committed' || kind === 'turn ended') {
        // Live events overtake stored ones: the next step may already be writing.
        const left = attemptsIn(sessionId).filter(({ step }) => step >= Number(facts['entry']))
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
  // Only one attempt at a step can be valid.
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
