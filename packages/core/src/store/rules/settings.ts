import { isId } from '../../base/ids.ts'
import { TITLE_MAX } from '../bounds.ts'
import type { LimitsRefused } from '../commits.ts'
import { InvalidRequestError } from '../errors.ts'
import { hashTitle, saltFor, type Titled } from '../integrity/chain.ts'
import { isCount } from '../measure.ts'
import { pinBudget } from '../pins.ts'
import type { Limits, PinRecord } from '../tables/rows.ts'
import { NO_OPERATION } from './admit.ts'
import { Draft } from './change-builder.ts'
import { fencedAtTail, type Rule, type Stamp, tailOf } from './ruling.ts'

const LIMIT_NAMES: readonly (keyof Limits)[] = [
  ...(['hardTokens', 'pinTokens', 'handoffTokens', 'inputTokens', 'stepTokens'] as const),
  ...(['outputTokens', 'laneMailMax', 'sourceMailMax'] as const),
]

/**
 * The premise of the budget theorem: the bounded parts fit below the hard limit, so a compaction at
 * `seen` always fits (I33).
 */
export function checkLimits(limits: Limits): LimitsRefused | null {
  const wrong = LIMIT_NAMES.find((name) => !isCount(limits[name]))
  if (wrong !== undefined) {
    throw new InvalidRequestError({
      problem: `The limit ${wrong} must be a whole number from 0; found ${limits[wrong]}.`,
    })
  }
  const neededTokens =
    limits.pinTokens +
    limits.handoffTokens +
    limits.inputTokens +
    limits.stepTokens +
    limits.outputTokens
  const { hardTokens } = limits
  return neededTokens <= hardTokens ? null : { kind: 'limits-refused', neededTokens, hardTokens }
}

export const pin: Rule<'pin'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  const { name, change } = request
  // Pin names are in entry heads, which survive erasure, so they must not hold free text.
  if (!isId(name)) {
    throw new InvalidRequestError({ problem: 'A pin name has 1 to 64 letters, digits, _ or -.' })
  }
  if (change === 'removed' && !Object.hasOwn(session.pins, name)) {
    return { outcome: { kind: 'unknown-pin' } }
  }
  const { [name]: _replaced, ...others } = session.pins
  if (change === 'set') {
    const pins = Object.entries(others).map(([each, { tokens }]) => [each, tokens] as const)
    const settingsTokens = rows.entry(session.id, session.settings)?.tokens ?? 0
    const room = { pins, settingsTokens, limits: session.limits }
    const { fits, tokensAfter, limit } = pinBudget(room, { name, tokens: request.tokens })
    if (!fits) return { outcome: { kind: 'no-room', tokensAfter, limit } }
  }

  const draft = new Draft(rows, session, request.operation, stamp)
  const entry = draft.appendJson({ kind: 'pin', meta: { name, change } }, request)
  const record: Record<string, PinRecord> =
    change === 'set' ? { [name]: { entry, tokens: request.tokens } } : {}
  draft.set({ pins: { ...others, ...record } })
  draft.settleControls(request.settles ?? [])
  draft.audit('settings changed', { entry, what: 'pin' })
  return { outcome: { kind: 'appended', tail: tailOf(draft.session) }, change: draft.change() }
}

export const setTasks: Rule<'setTasks'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  const draft = new Draft(rows, session, request.operation, stamp)
  const entry = draft.appendJson({ kind: 'task', meta: {} }, request)
  draft.set({ tasks: entry })
  draft.settleControls(request.settles ?? [])
  draft.audit('settings changed', { entry, what: 'tasks' })
  return { outcome: { kind: 'appended', tail: tailOf(draft.session) }, change: draft.change() }
}

export function titled(title: string | null, { seed }: Stamp): Titled {
  return { title, titleSalt: title === null ? null : saltFor(seed, NO_ENTRY) }
}

const NO_ENTRY = 0

/** Needs no entry and no lease: titles are for people's lists, and no model sees them. */
export const setTitle: Rule<'setTitle'> = (rows, request, stamp) => {
  const title = request.title?.toWellFormed() ?? null
  if (title !== null && title.length > TITLE_MAX) {
    const problem = `A title has at most ${TITLE_MAX} characters; found ${title.length}.`
    throw new InvalidRequestError({ problem })
  }
  const session = rows.session(request.sessionId)
  if (session === undefined) return { outcome: { kind: 'unknown' } }
  if (session.state !== 'open') return { outcome: { kind: 'gone' } }
  // An erasure moves the base. An erasure by another session leaves a debt until then.
  const { upto = session.base } = request
  const isErasedMeanwhile =
    session.base > upto || (request.upto !== undefined && session.owed.length > 0)
  if (isErasedMeanwhile) return { outcome: { kind: 'superseded', by: 'tail' } }
  const draft = new Draft(rows, session, NO_OPERATION, stamp)
  draft.set(titled(title, stamp))
  draft.audit('settings changed', { what: 'title', titleHash: hashTitle(draft.session) })
  return { outcome: { kind: 'done' }, change: draft.change() }
}

export const changeSettings: Rule<'changeSettings'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  const limits = request.limits ?? session.limits
  const refused = checkLimits(limits)
  if (refused !== null) return { outcome: refused }
  // The pins that are set and the settings themselves count against the limit.
  const pins = Object.values(session.pins)
  const fixedTokens = pins.reduce((sum, record) => sum + record.tokens, request.tokens)
  if (fixedTokens > limits.pinTokens) {
    const neededTokens = fixedTokens - limits.pinTokens + limits.hardTokens
    return {
      outcome: { kind: 'limits-refused', neededTokens, hardTokens: limits.hardTokens },
    }
  }

  const draft = new Draft(rows, session, request.operation, stamp)
  const meta = { limits: { ...limits }, replaces: { ...session.limits } }
  const entry = draft.appendJson({ kind: 'settings', meta }, request)
  draft.set({ settings: entry, limits, policy: request.policy ?? session.policy })
  draft.settleControls(request.settles ?? [])
  draft.audit('settings changed', { entry, what: 'settings' })
  const { session: after, written } = draft
  return { outcome: { kind: 'appended', tail: tailOf(after), written }, change: draft.change() }
}
