import type { Survey } from '../diagnose/survey.ts'
import { type FoldRow, type FoldSession, foldConversation } from '../read/fold.ts'
import type { RawRows } from '../read/raw-rows.ts'
import { callIdsOf, type HermesSession } from '../read/rows.ts'
import type { RepairPlan } from './plan.ts'

/**
 * The rows that the end of a conversation has never had, and the order in which they are appended:
 * by time, results after their calls. A result whose call the end lacks brings the call and its
 * other results along, because providers refuse half a pair.
 */
export interface LostRow {
  readonly rowId: number
  readonly sessionId: string
  readonly tip: string
}

interface Sources {
  readonly survey: Survey
  readonly rows: RawRows
  readonly rowIds: (sessionId: string) => Float64Array
}

export function findLostRows(plan: RepairPlan, sources: Sources): readonly LostRow[] {
  const wishes = wishesOf(plan, sources.survey)
  const roots = new Set([...wishes.keys()].map((id) => plan.lineage.rootOf(id)))
  return [...roots].flatMap((root) => lostOf(root, plan, { ...sources, wishes }))
}

function lostOf(
  root: string,
  plan: RepairPlan,
  { survey, rows, rowIds, wishes }: Sources & { readonly wishes: Wishes },
): readonly LostRow[] {
  const first = survey.sessions.get(root)
  const members = [...(first === undefined ? [] : [first]), ...plan.lineage.descendantsOf(root)]
  // A conversation may be large, so only rows that may be lost are kept in memory.
  const candidates = new Map<number, Candidate>()
  const folded = foldConversation(
    members.map(({ session }) =>
      foldSession(session, rowIds(session.id), (id) => {
        const row = rows.factsOf(id)
        const wanted = wishes.get(session.id)?.filter(({ isFor }) => isFor(row)) ?? []
        if (wanted.length > 0) {
          candidates.set(id, { sessionId: session.id, at: row.at ?? 0, wanted, copiedIn: [] })
        }
        return row
      }),
    ),
  )
  for (const { rowId, ofRowId } of folded.copies()) {
    const copy = candidates.get(rowId)
    if (copy !== undefined) copy.wanted = copy.wanted.filter(({ takesCopies }) => takesCopies)
    candidates.get(ofRowId)?.copiedIn.push(String(rows.read(rowId).fields['session_id'] ?? ''))
  }
  const wanted = new Map<string, Map<number, Candidate>>()
  for (const [id, candidate] of candidates) {
    for (const { tip, known } of candidate.wanted) {
      const has = candidate.copiedIn.length === 0 ? null : known()
      if (candidate.copiedIn.some((one) => has?.has(one))) continue
      const list = wanted.get(tip) ?? new Map<number, Candidate>()
      wanted.set(tip, list.set(id, candidate))
    }
  }
  return [...wanted].flatMap(([tip, list]) => {
    const open = survey.sessions.get(tip)?.openCalls ?? new Map<string, unknown>()
    const homes = new Map([...list].map(([id, { sessionId }]) => [id, sessionId]))
    const whole = withPairs(homes, { rows, rowIds, open })
    const timeOf = (id: number) => list.get(id)?.at ?? rows.factsOf(id).at ?? 0
    return inOrder(whole, timeOf, rows).map(([rowId, sessionId]) => ({ rowId, sessionId, tip }))
  })
}

interface Candidate {
  readonly sessionId: string
  readonly at: number
  wanted: readonly Wish[]
  /** The sessions that have a copy of it. */
  readonly copiedIn: string[]
}

/** Rows of one session that an end should have, unless one of these sessions has a copy. */
interface Wish {
  readonly tip: string
  readonly known: () => ReadonlySet<string>
  readonly isFor: (row: FoldRow) => boolean
  readonly takesCopies: boolean
}

type Wishes = ReadonlyMap<string, readonly Wish[]>

function wishesOf(plan: RepairPlan, survey: Survey): Wishes {
  const wishes = new Map<string, Wish[]>()
  const add = (id: string, wish: Wish) => wishes.set(id, [...(wishes.get(id) ?? []), wish])
  for (const { session, tip, closedAt: endedAt } of plan.late) {
    const { id } = session.session
    add(id, {
      ...{ tip, takesCopies: true },
      known: () => new Set(plan.lineage.descendantsOf(id).map((one) => one.session.id)),
      isFor: ({ at, state }) =>
        at !== null && endedAt !== null && at > endedAt && state !== 'rewound',
    })
  }
  for (const { tip, sessions } of plan.branches) {
    const known = () => lineTo(tip, survey)
    const isFor = ({ state, isHandoff }: FoldRow) => state !== 'rewound' && !isHandoff
    for (const { session } of sessions) add(session.id, { tip, takesCopies: false, known, isFor })
  }
  return wishes
}

function foldSession(
  session: HermesSession,
  rowIds: Float64Array,
  factsOf: (id: number) => FoldRow,
): FoldSession {
  const { id, parentId, endReason, endedAt } = session
  const closedAt = endReason === 'compression' ? endedAt : null
  const rows = (function* () {
    for (const one of rowIds) yield factsOf(one)
  })()
  return { id, parentId, closedAt, rowCount: rowIds.length, rows }
}

/** The sessions from the first one to this one. */
function lineTo(tip: string, survey: Survey): ReadonlySet<string> {
  const line = new Set<string>()
  for (let id: string | null = tip; id !== null && !line.has(id); ) {
    line.add(id)
    id = survey.sessions.get(id)?.session.parentId ?? null
  }
  return line
}

interface Pairing {
  readonly rows: RawRows
  readonly rowIds: (sessionId: string) => Float64Array
  /** Unanswered calls at the end. */
  readonly open: ReadonlyMap<string, unknown>
}

function withPairs(
  lost: ReadonlyMap<number, string>,
  { rows, rowIds, open }: Pairing,
): ReadonlyMap<number, string> {
  const whole = new Map(lost)
  for (const sessionId of new Set(lost.values())) {
    const ids = [...lost].filter(([, from]) => from === sessionId).map(([id]) => id)
    if (!ids.some((id) => pairFacts(rows, id) !== null)) continue
    const makers = new Map<string, number>()
    const answers = new Map<string, number>()
    const calls = new Map<number, readonly string[]>()
    for (const id of rowIds(sessionId)) {
      const pair = pairFacts(rows, id)
      if (pair === null) continue
      calls.set(id, pair.calls)
      for (const call of pair.calls) makers.set(call, id)
      if (pair.answers !== null) answers.set(pair.answers, id)
    }
    for (const id of ids) {
      const pair = pairFacts(rows, id)
      if (pair === null || (pair.answers !== null && open.has(pair.answers))) continue
      const maker = pair.answers === null ? id : makers.get(pair.answers)
      if (maker === undefined) continue
      const group = (calls.get(maker) ?? []).map((call) => answers.get(call))
      // The other half of this pair does not exist anywhere.
      if (pair.answers !== null && group.includes(undefined)) continue
      for (const one of [maker, ...group]) if (one !== undefined) whole.set(one, sessionId)
    }
  }
  return whole
}

interface Pair {
  readonly calls: readonly string[]
  readonly answers: string | null
}

function pairFacts(rows: RawRows, id: number): Pair | null {
  const { role, fields } = rows.read(id)
  const answers = fields['tool_call_id']
  if (role === 'tool') return typeof answers === 'string' ? { calls: [], answers } : null
  const text = fields['tool_calls']
  const calls = typeof text === 'string' ? (callIdsOf(text) ?? []) : []
  return calls.length === 0 ? null : { calls, answers: null }
}

/** By time; results directly follow their call. */
function inOrder(
  lost: ReadonlyMap<number, string>,
  timeOf: (id: number) => number,
  rows: RawRows,
): readonly (readonly [number, string])[] {
  const sorted = [...lost].sort(([one], [other]) => timeOf(one) - timeOf(other) || one - other)
  const answersOf = new Map<string, (readonly [number, string])[]>()
  for (const item of sorted) {
    const call = pairFacts(rows, item[0])?.answers ?? null
    if (call !== null) answersOf.set(call, [...(answersOf.get(call) ?? []), item])
  }
  const made = new Set(sorted.flatMap(([id]) => pairFacts(rows, id)?.calls ?? []))
  return sorted.flatMap((item) => {
    const pair = pairFacts(rows, item[0])
    if (pair === null) return [item]
    // It is added with its call.
    if (pair.answers !== null) return made.has(pair.answers) ? [] : [item]
    return [item, ...pair.calls.flatMap((call) => answersOf.get(call) ?? [])]
  })
}
