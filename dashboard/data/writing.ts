import type { LiveEvent } from '../../src/runtime/runtime.ts'
import { listen } from './events.ts'

/**
 * What is being written, in every session: whoever opens one in the middle of an answer sees it from
 * its first word. It is provisional, and goes with its commit, its turn or the connection.
 */
export interface Attempt {
  readonly id: string
  readonly step: number
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly string[]
}

const bySession = new Map<string, readonly Attempt[]>()

export const writingIn = (sessionId: string): readonly Attempt[] => bySession.get(sessionId) ?? []

export function followWriting(): void {
  listen((event) => {
    if (event.type === 'broken') bySession.clear()
    else if (event.type === 'live' && event.kind !== 'notice') {
      const { sessionId } = event
      bySession.set(sessionId, withPiece(writingIn(sessionId), event))
    } else if (event.type === 'stored') {
      if (event.kind === 'step committed' || event.kind === 'turn ended') {
        bySession.delete(event.sessionId)
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
