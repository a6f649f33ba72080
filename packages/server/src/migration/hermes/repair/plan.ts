import type { HermesRoute } from '../diagnose/routes.ts'
import type { SessionSurvey, Survey } from '../diagnose/survey.ts'
import { findCircles } from '../findings/circles.ts'
import { type FollowRule, isFollowed } from '../findings/follow.ts'
import { type Lineage, traceLineage } from '../findings/lineage.ts'

/**
 * The changes that give every conversation exactly one end, decided before anything is written.
 * Shells are dropped first; a session that compaction closed and that nothing then continues is
 * reopened; of a fork, the branch that Hermes follows stays, and the others are marked as branches.
 */
export interface RepairPlan {
  /** Sessions that no longer name a parent, each with the parent they named. */
  readonly detached: readonly Detached[]
  readonly shells: readonly Shell[]
  readonly reopened: readonly SessionSurvey[]
  readonly branches: readonly Branch[]
  /** Closed sessions that were written to afterwards, with where those rows belong. */
  readonly late: readonly {
    readonly session: SessionSurvey
    readonly tip: string
    readonly closedAt: number | null
  }[]
  /** Sessions whose closing time becomes the start of the next one, so that Hermes finds it. */
  readonly moved: readonly Hidden[]
  readonly routes: readonly { readonly route: HermesRoute; readonly to: string }[]
  /** After the repair, without shells. */
  readonly lineage: Lineage
}

export interface Detached {
  readonly sessionId: string
  readonly parentId: string
  /** In a cycle of parents, or closed but still followed by Hermes. */
  readonly why: 'circle' | 'followed'
}

export interface Shell {
  readonly sessionId: string
  readonly parentId: string
  /** The session before it stays closed, so the shell must be marked as not continuing it. */
  readonly isMarked: boolean
}

export interface Branch {
  /** Its first session. */
  readonly head: string
  readonly parentId: string
  /** All of them. */
  readonly sessions: readonly SessionSurvey[]
  /** The session to which its rows are appended. */
  readonly tip: string
}

export function planRepair(
  survey: Survey,
  routes: readonly HermesRoute[],
  rule: FollowRule,
): RepairPlan {
  const circles = findCircles(survey.sessions)
  const sessions = new Map(survey.sessions)
  for (const { sessionId } of circles) {
    const found = sessions.get(sessionId)
    if (found === undefined) continue
    sessions.set(sessionId, { ...found, session: { ...found.session, parentId: null } })
  }
  const shells = takeShells(sessions, rule)
  const lineage = traceLineage({ sessions, rule })
  const closed = [...sessions.values()].filter(({ session }) => isClosed(session.endReason))
  const reopened = closed.filter(({ session }) => lineage.continuationsOf(session.id).length === 0)
  const isReopened = new Set(reopened.map(({ session }) => session.id))
  const branches = closed.flatMap(({ session }) => branchesOf(session.id, lineage))
  const moved = rule === 'newest' ? closed.flatMap((one) => hiddenFrom(one, lineage)) : []
  const closedAt = new Map(moved.map((one) => [one.sessionId, one.closedAt]))
  const late = closed
    .filter(({ session: { id }, late: rows }) => {
      return (rows.count > 0 || closedAt.has(id)) && !isReopened.has(id)
    })
    .map((session) => ({
      session,
      tip: lineage.endOf(session.session.id),
      closedAt: closedAt.get(session.session.id) ?? session.session.endedAt,
    }))
  const left = [
    ...shells.filter(({ parentId }) => !isReopened.has(parentId)),
    ...branches.map(({ head, parentId }) => ({ sessionId: head, parentId })),
  ]
  const followed = left.filter((one) => isStillFollowed(one, { survey, lineage, rule }))
  return {
    detached: [
      ...circles.map((one) => ({ ...one, why: 'circle' as const })),
      ...followed.map((one) => ({ ...one, why: 'followed' as const })),
    ],
    shells: shells.map((shell) => ({ ...shell, isMarked: !isReopened.has(shell.parentId) })),
    ...{ moved, reopened, branches, late, lineage },
    routes: routes.flatMap((route) => {
      const to = endOf(route.sessionId, { sessions, shells, branches, lineage })
      return to === null || to === route.sessionId ? [] : [{ route, to }]
    }),
  }
}

/** A version without marks follows the child opened last, closed or not. */
function isStillFollowed(
  { sessionId, parentId }: { readonly sessionId: string; readonly parentId: string },
  {
    survey,
    lineage,
    rule,
  }: { readonly survey: Survey; readonly lineage: Lineage; readonly rule: FollowRule },
): boolean {
  const [child, parent] = [survey.sessions.get(sessionId), survey.sessions.get(parentId)]
  if (rule !== 'newest' || child === undefined || parent === undefined) return false
  if (!isFollowed(child.session, parent.session, rule)) return false
  const tip = lineage.endOf(parentId)
  const next = lineage
    .continuationsOf(parentId)
    .find((one) => lineage.endOf(one.session.id) === tip)
  return (child.session.startedAt ?? 0) >= (next?.session.startedAt ?? Number.NEGATIVE_INFINITY)
}

export interface Hidden {
  readonly sessionId: string
  readonly next: string
  readonly closedAt: number
}

/** The continuing session began before the closing, and older versions look only after it. */
export function hiddenFrom({ session }: SessionSurvey, lineage: Lineage): readonly Hidden[] {
  const tip = lineage.endOf(session.id)
  const next = lineage
    .continuationsOf(session.id)
    .find((one) => one.session.id === tip || lineage.endOf(one.session.id) === tip)?.session
  if (next === undefined || next.startedAt === null || session.endedAt === null) return []
  if (next.startedAt >= session.endedAt) return []
  return [{ sessionId: session.id, next: next.id, closedAt: next.startedAt }]
}

function isClosed(endReason: string | null): boolean {
  return endReason === 'compression'
}

/** Repeats, because an empty session whose shells were dropped becomes a shell itself. */
function takeShells(
  sessions: Map<string, SessionSurvey>,
  rule: FollowRule,
): readonly Omit<Shell, 'isMarked'>[] {
  const shells: Omit<Shell, 'isMarked'>[] = []
  for (;;) {
    const lineage = traceLineage({ sessions, rule })
    const found = [...sessions.values()].flatMap((parent) =>
      lineage
        .continuationsOf(parent.session.id)
        .filter(
          ({ rows, session }) => rows === 0 && lineage.continuationsOf(session.id).length === 0,
        )
        .map(({ session }) => ({ sessionId: session.id, parentId: parent.session.id })),
    )
    if (found.length === 0) return shells
    for (const shell of found) {
      sessions.delete(shell.sessionId)
      shells.push(shell)
    }
  }
}

function branchesOf(parentId: string, lineage: Lineage): readonly Branch[] {
  const children = lineage.continuationsOf(parentId)
  if (children.length < 2) return []
  const tip = lineage.endOf(parentId)
  const stays = children.find(({ session }) => lineage.endOf(session.id) === tip)
  return children
    .filter((child) => child !== stays)
    .map((child) => ({
      head: child.session.id,
      ...{ parentId, tip },
      sessions: [child, ...lineage.descendantsOf(child.session.id)],
    }))
}

interface Ends {
  readonly sessions: ReadonlyMap<string, SessionSurvey>
  readonly shells: readonly Omit<Shell, 'isMarked'>[]
  readonly branches: readonly Branch[]
  readonly lineage: Lineage
}

/** The session where a route to this one should lead; null: unknown. */
function endOf(id: string, { sessions, shells, branches, lineage }: Ends): string | null {
  const shell = shells.findLast(({ sessionId }) => sessionId === id)
  if (shell !== undefined) return endOf(shell.parentId, { sessions, shells, branches, lineage })
  const found = sessions.get(id)
  if (found === undefined) return null
  const isBranch = branches.some((branch) => branch.sessions.includes(found))
  const isLeft = isClosed(found.session.endReason) || isBranch
  return isLeft ? lineage.endOf(lineage.rootOf(id)) : id
}
