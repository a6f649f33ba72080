import type { Survey } from '../diagnose/survey.ts'

export interface Circle {
  readonly sessionId: string
  /** Its parent, which is also its descendant. */
  readonly parentId: string
}

/** For each cycle of parents the session that began first, where the conversation can start. */
export function findCircles(sessions: Survey['sessions']): readonly Circle[] {
  const found: Circle[] = []
  const seen = new Set<string>()
  for (const start of sessions.keys()) {
    const way = new Set<string>()
    let id: string | null = start
    while (id !== null && sessions.has(id) && !seen.has(id)) {
      seen.add(id)
      way.add(id)
      id = sessions.get(id)?.session.parentId ?? null
    }
    if (id === null || !way.has(id)) continue
    const circle = [...way].slice([...way].indexOf(id))
    const time = (one: string) => sessions.get(one)?.session.startedAt ?? Number.POSITIVE_INFINITY
    const first = circle.reduce((one, other) => (time(other) < time(one) ? other : one))
    const parentId = sessions.get(first)?.session.parentId ?? ''
    found.push({ sessionId: first, parentId })
  }
  return found
}
