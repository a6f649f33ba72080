import { type Copy, type FoldRow, type FoldSession, foldConversation } from '../hermes/fold.ts'
import type { RawRows } from '../hermes/raw-rows.ts'
import { callIdsOf, type HermesSession } from '../hermes/rows.ts'
import type { Survey } from '../hermes/survey.ts'
import type { RepairPlan } from './plan.ts'

/**
 * Which rows the end of a conversation has never seen, and in which order they are appended there:
 * by time, results behind their calls. A result whose call the end does not have brings the call and
 * its other results with it, since providers refuse half a pair.
 */
export interface LostRow {
  readonly rowId: number
  readonly sessionId: string
  readonly tip: string
}

interface Sources {
  readonly survey: Survey
  readonly rows: RawRows
  readonly rowIds: (sessionId: string) => readonly number[]
}

export function findLostRows(plan: RepairPlan, sources: Sources): readonly LostRow[] {
  const roots = new Set<string>()
  for (const { session } of plan.late) roots.add(plan.lineage.rootOf(session.session.id))
  for (const { head } of plan.branches) roots.add(plan.lineage.rootOf(head))
  return [...roots].flatMap((root) => lostOf(root, plan, sources))
}

function lostOf(root: string, plan: RepairPlan, sources: Sources): readonly LostRow[] {
  const { survey, rows, rowIds } = sources
  const first = survey.sessions.get(root)
  const members = [...(first === undefined ? [] : [first]), ...plan.lineage.descendantsOf(root)]
  const facts = new Map<string, RowFacts[]>()
  const folded = foldConversation(
    members.map(({ session }) => {
      const list: RowFacts[] = []
      facts.set(session.id, list)
      return foldSession(session, rowIds(session.id), (id) => {
        // What was said is forgotten as soon as it is folded: a conversation may be large.
        const { said, ...row } = rows.factsOf(id)
        list.push(row)
        return { ...row, said }
      })
    }),
  )
  const copies = [...folded.copies()]
  const homes = new Map<number, string>()
  const times = new Map<number, number>()
  for (const [id, list] of facts) {
    for (const row of list) {
      homes.set(row.id, id)
      times.set(row.id, row.at ?? 0)
    }
  }
  const wanted = new Map<string, Map<number, string>>()
  const want = (tip: string, row: number) => {
    const list = wanted.get(tip) ?? new Map<number, string>()
    wanted.set(tip, list.set(row, homes.get(row) ?? ''))
  }
  const knows = whereCopied(copies, homes)
  wantLate({ facts, plan, knows, want })
  wantBranches({ facts, plan, knows, want, survey, copies })
  return [...wanted].flatMap(([tip, list]) => {
    const open = survey.sessions.get(tip)?.openCalls ?? new Map<string, unknown>()
    const whole = withPairs(list, { rows, rowIds, open })
    return inOrder(whole, times, rows).map(([rowId, sessionId]) => ({ rowId, sessionId, tip }))
  })
}

type Copies = readonly Copy[]
type RowFacts = Omit<FoldRow, 'said'>

/** Whether one of these sessions holds a copy of the row. */
type Knows = (ids: ReadonlySet<string>, row: number) => boolean

function whereCopied(copies: Copies, homes: ReadonlyMap<number, string>): Knows {
  const places = new Map<number, string[]>()
  for (const { rowId, ofRowId } of copies) {
    const home = homes.get(rowId) ?? ''
    const known = places.get(ofRowId)
    if (known === undefined) places.set(ofRowId, [home])
    else known.push(home)
  }
  return (ids, row) => places.get(row)?.some((id) => ids.has(id)) === true
}

interface Wanting {
  readonly facts: ReadonlyMap<string, readonly RowFacts[]>
  readonly plan: RepairPlan
  readonly knows: Knows
  readonly want: (tip: string, row: number) => void
}

function wantLate({ facts, plan, knows, want }: Wanting): void {
  for (const { session, tip } of plan.late) {
    const { id, endedAt } = session.session
    const followers = new Set(plan.lineage.descendantsOf(id).map((one) => one.session.id))
    for (const row of facts.get(id) ?? []) {
      const isLate = row.at !== null && endedAt !== null && row.at > endedAt
      if (isLate && row.state !== 'rewound' && !knows(followers, row.id)) want(tip, row.id)
    }
  }
}

function wantBranches(
  wanting: Wanting & { readonly survey: Survey; readonly copies: Copies },
): void {
  const { facts, plan, knows, want, survey, copies } = wanting
  const isCopy = new Set(copies.map(({ rowId }) => rowId))
  for (const { head, tip, sessions } of plan.branches) {
    if (!facts.has(head)) continue
    const line = lineTo(tip, survey)
    for (const { session } of sessions) {
      for (const row of facts.get(session.id) ?? []) {
        const isSaid = row.state !== 'rewound' && !row.isHandoff && !isCopy.has(row.id)
        if (isSaid && !knows(line, row.id)) want(tip, row.id)
      }
    }
  }
}

function foldSession(
  session: HermesSession,
  rowIds: readonly number[],
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
  readonly rowIds: (sessionId: string) => readonly number[]
  /** Calls that the end waits for an answer to. */
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
      // Half a pair stays half a pair; its other half is nowhere.
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

/** By time; what answers a call stands directly behind it. */
function inOrder(
  lost: ReadonlyMap<number, string>,
  times: ReadonlyMap<number, number>,
  rows: RawRows,
): readonly (readonly [number, string])[] {
  const sorted = [...lost].sort(
    ([one], [other]) => (times.get(one) ?? 0) - (times.get(other) ?? 0) || one - other,
  )
  const answersOf = new Map<string, (readonly [number, string])[]>()
  for (const item of sorted) {
    const call = pairFacts(rows, item[0])?.answers ?? null
    if (call !== null) answersOf.set(call, [...(answersOf.get(call) ?? []), item])
  }
  const made = new Set(sorted.flatMap(([id]) => pairFacts(rows, id)?.calls ?? []))
  return sorted.flatMap((item) => {
    const pair = pairFacts(rows, item[0])
    if (pair === null) return [item]
    // It comes with its call.
    if (pair.answers !== null) return made.has(pair.answers) ? [] : [item]
    return [item, ...pair.calls.flatMap((call) => answersOf.get(call) ?? [])]
  })
}
