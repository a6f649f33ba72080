import type { EntryNumber } from '../base/ids.ts'
import type { MailItem } from '../store/queries.ts'
import type { BusyPolicy } from '../store/rows.ts'
import { type Chosen, commit, commitNew, fencedBy, settle } from './choice.ts'
import { claimManual, claimPreview } from './compacting.ts'
import type { Decisions } from './decisions.ts'
import { bodyOf, type Picture, type State } from './state.ts'

/**
 * Control items, oldest first. Each is settled by the very commit that carries it out, so that a
 * crash in between leaves it waiting; what cannot be carried out is settled as turned down.
 */
export function obeyControls(state: State, picture: Picture, decisions: Decisions): Chosen {
  if (state.turnedDown !== null) {
    return settle({ ...state, turnedDown: null }, [state.turnedDown])
  }
  for (const mail of picture.controls) {
    const next = obey(state, picture, mail, decisions)
    if (next !== null) return next
  }
  return null
}

function obey(state: State, picture: Picture, mail: MailItem, decisions: Decisions): Chosen {
  switch (mail.control) {
    case 'stop': {
      const { session } = picture
      const isForThisTurn = session.turnState === 'running' && mail.turnAt === session.turn
      // The commit that ends the turn settles it; settled earlier, a crash would forget it.
      return isForThisTurn ? null : settle(state, [mail.number])
    }
    case 'compact':
      return claimManual(state, picture, mail, decisions)
    case 'install':
      return claimPreview(state, picture, mail)
    case 'revert':
      return revert(state, picture, mail)
    case 'pin':
      return pin(state, picture, mail)
    case 'policy':
      return changePolicy(state, picture, mail)
    default:
      return settle(state, [mail.number])
  }
}

/** Undoes the newest compaction; what comes back is measured first, for the store to judge. */
function revert(state: State, picture: Picture, mail: MailItem): Chosen {
  const target: EntryNumber = picture.session.effective
  if (target === 0) return settle(state, [mail.number])
  const { revert } = state
  switch (revert.kind) {
    case 'none':
      return {
        state: { ...state, revert: { kind: 'measuring', target } },
        effects: [{ kind: 'measureRevert', target }],
      }
    case 'measuring':
      return null
    case 'measured': {
      const { operation, upto } = revert
      const { system, pieces } = picture.context
      const added = [...system, ...pieces.filter((piece) => piece.number > upto)]
      const tokensAfter = added.reduce((sum, piece) => sum + piece.tokens, revert.tokensAfter)
      return commit(state, {
        verb: 'revert',
        request: {
          ...fencedBy(state, picture),
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

/** `{ name, text }` sets a pin, without `text` it is removed. */
function pin(state: State, picture: Picture, mail: MailItem): Chosen {
  const body = bodyOf(mail)
  const name = body['name']
  const text = body['text']
  if (typeof name !== 'string') return settle(state, [mail.number])
  return commitNew(state, (operation) => ({
    verb: 'pin',
    request: {
      ...fencedBy(state, picture),
      operation,
      name,
      change: typeof text === 'string' ? 'set' : 'removed',
      body: typeof text === 'string' ? text : null,
      tokens: typeof text === 'string' ? mail.tokens : 0,
      settles: [mail.number],
    },
  }))
}

const POLICIES: readonly string[] = [
  'steer',
  'queue',
  'interrupt',
  'collect',
] satisfies BusyPolicy[]

/** A change takes effect at the next step boundary and recalls nothing (decision 25). */
function changePolicy(state: State, picture: Picture, mail: MailItem): Chosen {
  const policy = bodyOf(mail)['policy']
  if (typeof policy !== 'string' || !POLICIES.includes(policy)) return settle(state, [mail.number])
  const [system] = picture.session.settings === 0 ? [] : picture.context.settings
  return commitNew(state, (operation) => ({
    verb: 'changeSettings',
    request: {
      ...fencedBy(state, picture),
      operation,
      policy: policy as BusyPolicy,
      body: { policy, ...(system !== undefined && { system: system.text }) },
      tokens: system?.tokens ?? 0,
      settles: [mail.number],
    },
  }))
}
