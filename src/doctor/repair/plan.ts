import { type Lineage, traceLineage } from '../hermes/findings/lineage.ts'
import type { Route } from '../hermes/rows.ts'
import type { SessionSurvey, Survey } from '../hermes/survey.ts'

/**
 * What must change so that every conversation has one end at which it goes on, decided before
 * anything is written. Shells lead nowhere and are left out first; a session that compaction closed
 * and that nothing continues then is opened again; of a fork the branch that Hermes follows stays,
 * and the others become branches in name too.
 */
export interface RepairPlan {
  readonly shells: readonly Shell[]
  readonly reopened: readonly SessionSurvey[]
  readonly branches: readonly Branch[]
  /** Sessions that stay closed and were written to afterwards, with where that belongs. */
  readonly late: readonly { readonly session: SessionSurvey; readonly tip: string }[]
  readonly routes: readonly { readonly route: Route; readonly to: string }[]
  /** As it will be: without shells. */
  readonly lineage: Lineage
}

export interface Shell {
  readonly sessionId: string
  readonly parentId: string
  /** The session before it stays closed, so that the shell must say that it does not continue it. */
  readonly isMarked: boolean
}

export interface Branch {
  /** Its first session. */
  readonly head: string
  readonly parentId: string
  /** All of them. */
  readonly sessions: readonly SessionSurvey[]
  /** Where what was said in it is appended. */
  readonly tip: string
}

export function planRepair(survey: Survey, routes: readonly Route[]): RepairPlan {
  const sessions = new Map(survey.sessions)
  const shells = takeShells(sessions, survey)
  const lineage = traceLineage({ ...survey, sessions })
  const closed = [...sessions.values()].filter(({ session }) => isClosed(session.endReason))
  const reopened = closed.filter(({ session }) => lineage.continuationsOf(session.id).length === 0)
  const isReopened = new Set(reopened.map(({ session }) => session.id))
  const branches = closed.flatMap(({ session }) => branchesOf(session.id, lineage))
  const late = closed
    .filter((one) => one.late.count > 0 && !isReopened.has(one.session.id))
    .map((session) => ({ session, tip: lineage.tipOf(session.session.id) }))
  return {
    shells: shells.map((shell) => ({ ...shell, isMarked: !isReopened.has(shell.parentId) })),
    ...{ reopened, branches, late, lineage },
    routes: routes.flatMap((route) => {
      const to = endOf(route.sessionId, { sessions, shells, branches, lineage })
      return to === null || to === route.sessionId ? [] : [{ route, to }]
    }),
  }
}

function isClosed(endReason: string | null): boolean {
  return endReason === 'compression'
}

/** A shell behind a shell makes a shell of the one before it. */
function takeShells(
  sessions: Map<string, SessionSurvey>,
  survey: Survey,
): readonly Omit<Shell, 'isMarked'>[] {
  const shells: Omit<Shell, 'isMarked'>[] = []
  for (;;) {
    const lineage = traceLineage({ ...survey, sessions })
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
  const tip = lineage.tipOf(parentId)
  const stays = children.find(({ session }) => lineage.tipOf(session.id) === tip)
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

/** Where whoever is sent to this session should arrive; null: nobody knows. */
function endOf(id: string, { sessions, shells, branches, lineage }: Ends): string | null {
  const shell = shells.findLast(({ sessionId }) => sessionId === id)
  if (shell !== undefined) return endOf(shell.parentId, { sessions, shells, branches, lineage })
  const found = sessions.get(id)
  if (found === undefined) return null
  const isBranch = branches.some((branch) => branch.sessions.includes(found))
  const isLeft = isClosed(found.session.endReason) || isBranch
  return isLeft ? lineage.tipOf(lineage.rootOf(id)) : id
}
