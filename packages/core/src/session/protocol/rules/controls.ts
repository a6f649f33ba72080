import { isDeepStrictEqual as isSame } from 'node:util'
import { type EntryNumber, isId } from '../../../base/ids.ts'
import type { JsonValue } from '../../../base/json.ts'
import { ERASE_MAX } from '../../../store/bounds.ts'
import { ownAfter } from '../../../store/lineage.ts'
import type { MailItem } from '../../../store/queries.ts'
import type { BusyPolicy } from '../../../store/tables/rows.ts'
import type { SessionView } from '../../context/session-view.ts'
import { tryNow } from '../absorb.ts'
import type { Decisions } from '../policy.ts'
import { mailBody, type State } from '../state.ts'
import {
  commit,
  commitNew,
  fencedBy,
  type RuleOutcome,
  refuseControl,
  settle,
} from '../transition.ts'
import { claimManual, claimPreview } from './requested.ts'

/**
 * Control items, oldest first. The commit that carries an item out also settles it, so that a crash
 * in between leaves it waiting; an item that cannot be carried out is settled as refused.
 */
export function applyControls(state: State, view: SessionView, decisions: Decisions): RuleOutcome {
  if (state.turnedDown !== null) {
    const { mail, refused } = state.turnedDown
    return refuseControl({ ...state, turnedDown: null }, mail, refused)
  }
  for (const mail of view.controls) {
    const next = obey(state, view, mail, decisions)
    if (next !== null) return next
  }
  return null
}

function obey(state: State, view: SessionView, mail: MailItem, decisions: Decisions): RuleOutcome {
  switch (mail.control) {
    case 'stop': {
      const { session } = view
      const isForThisTurn = session.turnState === 'running' && mail.turnAt === session.turn
      // The commit that ends the turn settles it: settled earlier, it would be lost in a crash.
      return isForThisTurn ? null : settle(state, [mail.number])
    }
    case 'continue':
    case 'retry':
      return settle(tryNow(state), [mail.number])
    case 'compact':
      return claimManual(state, view, mail, decisions)
    case 'install':
      return claimPreview(state, view, mail)
    case 'revert':
      return revert(state, view, mail)
    case 'pin':
      return pin(state, view, mail)
    case 'erase':
      return erase(state, view, mail)
    case 'tasks':
      return setTasks(state, view, mail)
    case 'policy':
      return changePolicy(state, view, mail)
    default:
      return refuseControl(state, mail.number, { why: 'not-understood' })
  }
}

/**
 * Undoes the newest compaction; the size of the restored entries is measured first, for the store's
 * check. `{ compaction }` names the one that was shown: of two requests at once, the second must not
 * undo the one below.
 */
function revert(state: State, view: SessionView, mail: MailItem): RuleOutcome {
  const target: EntryNumber = view.session.effective
  if (target === 0) return refuseControl(state, mail.number, { why: 'nothing-to-revert' })
  const { compaction = target } = mailBody(mail)
  if (compaction !== target) return refuseControl(state, mail.number, { why: 'out-of-date' })
  const { revert } = state
  const measure = () => ({
    state: { ...state, revert: { kind: 'measuring', target } as const },
    effects: [{ kind: 'measureRevert', target } as const],
  })
  switch (revert.kind) {
    case 'none':
      return measure()
    case 'measuring':
      return null
    case 'measured': {
      const { operation, upto, limits } = revert
      if (!isSame(limits, view.session.limits)) return measure()
      const { system, pieces } = view.context
      const added = [...system, ...pieces.filter((piece) => piece.number > upto)]
      const tokensAfter = added.reduce((sum, piece) => sum + piece.tokens, revert.tokensAfter)
      return commit(state, {
        verb: 'revert',
        request: {
          ...fencedBy(state, view),
          operation,
          target,
          tokensAfter,
          settles: [mail.number],
        },
      })
    }
    default:
      return revert satisfies never
  }
}

/**
 * `{ name, text }` sets a pin; without `text`, or with null, it is removed. `when: between-turns`
 * lets it wait.
 */
function pin(state: State, view: SessionView, mail: MailItem): RuleOutcome {
  const body = mailBody(mail)
  const { name, text = null } = body
  // Memory changes only between turns, so that a turn sees one version of it.
  const isEarly = body['when'] === 'between-turns' && view.session.turnState === 'running'
  if (isEarly) return null
  const isText = text === null || typeof text === 'string'
  if (typeof name !== 'string' || !isId(name) || !isText) {
    return refuseControl(state, mail.number, { why: 'not-understood' })
  }
  return commitNew(state, (operation) => ({
    verb: 'pin',
    request: {
      ...fencedBy(state, view),
      operation,
      name,
      ...(text === null
        ? { change: 'removed', body: null, tokens: 0 }
        : { change: 'set', body: text, tokens: mail.tokens }),
      settles: [mail.number],
    },
  }))
}

/**
 * Erases bodies. The handoff in effect may repeat an erased entry that it covers, so a digest
 * without these entries replaces it in the same commit (decision 23).
 */
function erase(state: State, view: SessionView, mail: MailItem): RuleOutcome {
  const { session, context } = view
  const body = mailBody(mail)
  const entries = entriesIn(body['entries'], session.tail)
  if (entries.length === 0) return refuseControl(state, mail.number, { why: 'unknown-entry' })
  if (Math.min(...entries) <= ownAfter(session)) {
    return refuseControl(state, mail.number, { why: 'elsewhere' })
  }
  if (session.openCalls.length > 0) return null
  const { erasure } = state
  const { effective, covers } = session
  // If the range contains the handoff itself, the handoff is erased too.
  const isCovered =
    effective !== 0 && (Math.min(...entries) <= covers || entries.includes(effective))
  if (isCovered && erasure.kind === 'none') {
    return {
      state: { ...state, erasure: { kind: 'writing' } },
      effects: [{ kind: 'replaceHandoff', mail: mail.number, entries, context }],
    }
  }
  if (isCovered && (erasure.kind !== 'written' || erasure.mail !== mail.number)) return null
  const written = isCovered && erasure.kind === 'written' ? erasure : null
  if (written?.replacement === null) {
    const free: State = { ...state, erasure: { kind: 'none' } }
    return refuseControl(free, mail.number, { why: 'no-replacement' })
  }
  const reason = typeof body['reason'] === 'string' ? body['reason'] : 'requested'
  const request = { ...fencedBy(state, view), entries, reason, settles: [mail.number] }
  if (written === null) {
    return commitNew(state, (operation) => ({
      verb: 'eraseEntries',
      request: { ...request, operation },
    }))
  }
  const { operation, owed, replacement } = written
  return commit(state, {
    verb: 'eraseEntries',
    request: { ...request, operation, owed, replacement },
  })
}

/**
 * Another session erased entries that this one reads. Before it does anything else, this session
 * appends an entry that names them, and replaces its handoff if the erasure emptied it: no model is
 * asked while the handoff is empty.
 */
export function nameOwedErasures(state: State, view: SessionView): RuleOutcome {
  const { owed, effective, openCalls } = view.session
  if (owed.length === 0 || openCalls.length > 0) return null
  const { erasure } = state
  const request = { ...fencedBy(state, view), entries: [], reason: 'erased elsewhere', owed }
  if (!owed.includes(effective)) {
    return commitNew(state, (operation) => ({
      verb: 'eraseEntries',
      request: { ...request, operation },
    }))
  }
  // One that was written for a mail of this session lacks what that mail is still to erase.
  if (erasure.kind === 'none' || (erasure.kind === 'written' && erasure.mail !== null)) {
    const { context } = view
    return {
      state: { ...state, erasure: { kind: 'writing' } },
      effects: [{ kind: 'replaceHandoff', mail: null, entries: owed, context }],
    }
  }
  if (erasure.kind === 'writing') return 'wait'
  const { operation } = erasure
  const replacement = erasure.replacement ?? EMPTIED_HANDOFF
  return commit(state, { verb: 'eraseEntries', request: { ...request, operation, replacement } })
}

/** Replaces a range for which no digest could be written. */
export const EMPTIED_HANDOFF = {
  body: {
    ...{ version: 1, by: 'digest', covers: 0, kept: 0, compactions: 1 },
    ...{ preserved: [], tasks: [], files: [], ledger: [] },
    summary: 'What was said here was erased.',
  },
  tokens: 24,
}

function entriesIn(value: JsonValue | undefined, tail: number): readonly EntryNumber[] {
  if (!Array.isArray(value)) return []
  const numbers = value.filter(
    (each) => typeof each === 'number' && Number.isInteger(each) && each >= 1 && each <= tail,
  )
  return [...new Set(numbers as readonly EntryNumber[])].slice(0, ERASE_MAX)
}

/** Replaces the whole list, as the agent sends it. */
function setTasks(state: State, view: SessionView, mail: MailItem): RuleOutcome {
  return commitNew(state, (operation) => ({
    verb: 'setTasks',
    request: {
      ...fencedBy(state, view),
      operation,
      body: mailBody(mail),
      tokens: mail.tokens,
      settles: [mail.number],
    },
  }))
}

/** Changed settings apply between two turns, so that no turn sees both (I24). */
export function adoptSettings(state: State, view: SessionView): RuleOutcome {
  const { wanted, session, context } = view
  if (wanted === undefined || session.turnState === 'running') return null
  if (wanted === state.refusedSettings) return null
  const [now] = context.settings
  const isAdopted =
    now !== undefined &&
    now.tokens === wanted.tokens &&
    isSame({ ...now.body, policy: null }, { ...wanted.body, policy: null }) &&
    isSame(session.limits, wanted.limits)
  if (isAdopted) return null
  const { limits, policy, body, tokens } = wanted
  return commitNew(state, (operation) => ({
    verb: 'changeSettings',
    request: {
      ...fencedBy(state, view),
      operation,
      limits,
      ...(policy !== undefined && now === undefined && { policy }),
      body,
      tokens,
    },
  }))
}

const POLICIES: readonly string[] = [
  'steer',
  'queue',
  'interrupt',
  'collect',
] satisfies BusyPolicy[]

/**
 * A change takes effect at the next step boundary and does not affect delivered mail (decision 25).
 */
function changePolicy(state: State, view: SessionView, mail: MailItem): RuleOutcome {
  const policy = mailBody(mail)['policy']
  if (typeof policy !== 'string' || !POLICIES.includes(policy)) {
    return refuseControl(state, mail.number, { why: 'not-understood' })
  }
  const [now] = view.context.settings
  return commitNew(state, (operation) => ({
    verb: 'changeSettings',
    request: {
      ...fencedBy(state, view),
      operation,
      policy: policy as BusyPolicy,
      body: { ...now?.body, policy },
      tokens: now?.tokens ?? 0,
      settles: [mail.number],
    },
  }))
}
