import { join } from 'node:path'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { isObject, type JsonValue } from '../../packages/core/src/base/json.ts'
import { readRange } from '../../packages/core/src/session/context/source.ts'
import { readSqliteStore } from '../../packages/core/src/store/sqlite/read.ts'
import type { Entry } from '../../packages/core/src/store/tables/rows.ts'
import { DRILL_SESSION, type Drilled, textOf } from './drill.ts'
import { STORE_NAME } from './serve-process.ts'

/** What came of a drill, by the client's own record against the store, which is only read. */
export interface Verdict {
  /** Empty: every acknowledged message was answered exactly once, in order. */
  readonly violations: readonly string[]
  readonly figures: Readonly<Record<string, number>>
}

export async function judgeDrill(folder: string, drilled: Drilled): Promise<Verdict> {
  const store = await readSqliteStore(join(folder, STORE_NAME))
  try {
    const id = sessionId(DRILL_SESSION)
    const session = await store.findSession(id)
    if (session === undefined) return { violations: ['The session is gone.'], figures: {} }
    const entries = await readRange(store, id, 0, session.tail)
    const damage = (await store.verify({})).map((each) => JSON.stringify(each))
    const answered = judgeAnswers(entries, drilled)
    const told = judgeTelling(entries, drilled)
    return {
      violations: [...damage, ...answered.violations, ...told.violations],
      figures: { ...answered.figures, ...told.figures },
    }
  } finally {
    await store.close()
  }
}

function judgeAnswers(entries: readonly Entry[], { acknowledged, kills, torn }: Drilled): Verdict {
  const violations: string[] = []
  const inputs = entries.flatMap((entry) => (entry.kind === 'input' ? [entry] : []))
  const replies = entries.flatMap((entry) => (entry.kind === 'assistant' ? [entry] : []))
  const ends = entries.flatMap((entry) => (entry.kind === 'turn' ? [entry] : []))
  const expected = acknowledged.map(({ n, mail }) => `${mail} ${textOf(n)}`)
  const found = inputs.map((entry) => `${entry.meta.mail} ${messageText(entry.body)}`)
  for (const line of expected.filter((line) => !found.includes(line))) {
    violations.push(`acknowledged and not in the transcript: ${line}`)
  }
  if (found.join('\n') !== expected.join('\n')) {
    violations.push('The transcript does not hold each message once, in the order of its posting.')
  }
  for (const { number, meta } of inputs) {
    // The first reply whose context held it; its turn must have ended with that very reply.
    const reply = replies.find((each) => each.number > number && each.meta.upto >= number)
    const end = ends.find((each) => each.meta.turn === reply?.meta.turn)
    const inTurn = replies.filter((each) => each.meta.turn === reply?.meta.turn)
    if (reply === undefined || end === undefined) violations.push(`${meta.mail} is not answered`)
    else if (end.meta.ended !== 'answered') violations.push(`${meta.mail}: ${end.meta.ended}`)
    else if (inTurn.length !== 1) violations.push(`${meta.mail}: ${inTurn.length} replies`)
  }
  const retried = acknowledged.filter(({ tries }) => tries > 1).length
  return {
    violations,
    figures: {
      messages: inputs.length,
      turns: ends.length,
      kills,
      'kills during a post': torn,
      'posts that were repeated': retried,
      compactions: entries.filter(({ kind }) => kind === 'compaction').length,
    },
  }
}

/** What stood on the client's screen is a stretch of what was committed, once voided attempts are gone. */
function judgeTelling(entries: readonly Entry[], { telling }: Drilled): Verdict {
  const violations: string[] = []
  let whole = 0
  let wrongWithout = 0
  for (const entry of entries) {
    if (entry.kind !== 'assistant') continue
    const shown = telling.shown.get(`${entry.meta.turn} ${entry.meta.upto}`)
    if (shown === undefined) continue
    const text = messageText(entry.body)
    // Whoever connects late has not heard the beginning.
    if (!text.includes(shown.text))
      violations.push(`shown and not said: ${shown.text.slice(0, 80)}`)
    if (!text.includes(shown.naive)) wrongWithout++
    if (text === shown.text) whole++
  }
  if (telling.disorder > 0) violations.push(`${telling.disorder} events came again`)
  return {
    violations,
    figures: {
      'answers seen whole': whole,
      'attempts that died speaking': telling.died,
      'answers wrong without voiding': wrongWithout,
      reconnects: telling.reconnects,
    },
  }
}

function messageText(body: string | null): string {
  const parsed = body === null ? null : (JSON.parse(body) as JsonValue)
  const inner = isObject(parsed) && isObject(parsed['message']) ? parsed['message'] : parsed
  const parts = isObject(inner) && Array.isArray(inner['parts']) ? inner['parts'] : []
  return parts.flatMap((part) => (isObject(part) ? [String(part['text'] ?? '')] : [])).join('')
}
