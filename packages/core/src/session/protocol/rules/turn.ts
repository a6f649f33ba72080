import type { JsonValue } from '../../../base/json.ts'
import type { AssistantMessage } from '../../../message/message.ts'
import { TURN_ATTEMPTS_MAX } from '../../../store/bounds.ts'
import type { NewReply } from '../../../store/commits.ts'
import type { SessionRow } from '../../../store/tables/rows.ts'
import type { SessionView } from '../../context/session-view.ts'
import { failureMessage, failureTokens } from '../../failure-message.ts'
import { callsOf, RENDERER, type StepOutcome } from '../../step.ts'
import type { Decisions } from '../policy.ts'
import { type Advance, numbered, type State, withoutEffects } from '../state.ts'
import {
  commit,
  commitNew,
  fencedBy,
  notifyStepWait,
  type RuleOutcome,
  waitUntil,
} from '../transition.ts'
import { claimInBackground } from './compaction.ts'

/** The steps of a turn: recovery, the two commits of a step, tools, stops. */

/**
 * Runs once per acquisition, before any other write (decisions 6 and 14). A turn that an imported
 * file left open would continue with the file's system text and calls, so it ends here.
 */
export function recoverFirst(state: State, view: SessionView): RuleOutcome {
  if (view.session.recovered === state.lease.fence) return null
  const { attemptsMax, text, reason } = isFresh(view.session) ? IMPORTED : ABRUPT
  const repeatable = openCallsOf(view)
    .filter((call) => state.isRepeatable(call.name))
    .map((call) => call.id)
  return commitNew(state, (operation) => ({
    verb: 'recover',
    request: {
      ...fencedBy(state, view),
      operation,
      repeatable,
      attemptsMax,
      lossesMax: state.settings.lossesMax,
      failureReplies: repliesOf(view, text),
      reason,
    },
  }))
}

const ABRUPT = {
  attemptsMax: TURN_ATTEMPTS_MAX,
  text: 'This could not be answered: the work on it ended abruptly several times.',
  reason: 'Each attempt at this turn ended abruptly.',
}
const IMPORTED = {
  // Even without an attempt so far.
  attemptsMax: -1,
  text: 'This was not answered: the conversation was moved meanwhile. Please send it again.',
  reason: 'The session was imported while this turn was running.',
}

/** Imported, and never held by a process since. */
function isFresh({ birth, recovered }: SessionView['session']): boolean {
  return birth === 'imported' && recovered === 0
}

/** The first commit of a step: the reply with its calls, before any tool starts. */
export function offerReply(state: State, view: SessionView): RuleOutcome {
  const { step } = state
  if (step.kind !== 'ended') return null
  const { turn, upto, operation, outcome } = step
  // A reply that closing cut short is not an answer; the next holder repeats this step.
  if (state.phase === 'closing' && outcome.kind === 'interrupted') {
    return withoutEffects({ ...state, step: { kind: 'none' } })
  }
  const calls = outcome.kind === 'replied' ? callsOf(outcome.message) : []
  const said =
    outcome.kind === 'failed'
      ? failureMessage(outcome.reason)
      : outcome.kind === 'replied'
        ? outcome.message
        : withoutCalls(outcome.message)
  const how = HOW_IT_ENDS[outcome.kind]
  const replies = how === 'stopped' ? [] : repliesOf(view, saidText(said))
  return commit(state, {
    verb: 'commitReply',
    request: {
      ...fencedBy(state, view),
      operation,
      turn,
      step: {
        upto,
        renderer: RENDERER,
        calls: calls.map((call) => call.id),
        body: said as unknown as JsonValue,
        tokens: outcome.kind === 'failed' ? failureTokens(outcome.reason) : outcome.tokens,
      },
      ...(calls.length === 0 && { ends: { how, replies, ...reasonIn(outcome) } }),
    },
  })
}

function reasonIn(outcome: StepOutcome) {
  return outcome.kind === 'failed' ? { reason: outcome.reason.toWellFormed() } : {}
}

const HOW_IT_ENDS = { replied: 'answered', interrupted: 'stopped', failed: 'failed' } as const

/** An empty message records that a model has seen the input; contexts leave it out. */
function withoutCalls(message: AssistantMessage | null): AssistantMessage {
  if (message === null) return { role: 'assistant', parts: [] }
  return { ...message, parts: message.parts.filter((part) => part.type !== 'tool-call') }
}

function saidText(message: AssistantMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function repliesOf({ session, replyTo }: SessionView, text: string): readonly NewReply[] {
  if (replyTo === null || text === '') return []
  return [{ ...replyTo, key: `${session.id}-${session.turn}`, body: { text } }]
}

/** The second commit of a step. */
export function offerResults(state: State, view: SessionView): RuleOutcome {
  if (state.tools.kind !== 'ended') return null
  const { operation, results } = state.tools
  return commit(state, {
    verb: 'commitResults',
    request: { ...fencedBy(state, view), operation, results },
  })
}

export function abortStep(state: State): Advance {
  const step = state.step.kind === 'running' ? { ...state.step, aborting: true } : state.step
  return { state: { ...state, step }, effects: [{ kind: 'abortStep' }] }
}

export function abortTools(state: State): Advance {
  return {
    state: { ...state, tools: { kind: 'running', aborting: true } },
    effects: [{ kind: 'abortTools' }],
  }
}

/** Runs recorded open calls, or closes them if the turn is to stop or their reply was erased. */
export function handleOpenCalls(
  state: State,
  view: SessionView,
  decisions: Decisions,
): RuleOutcome {
  const { openCalls, tail } = view.session
  if (openCalls.length === 0) return null
  const stop = decisions.stopOf(view)
  if (state.tools.kind === 'running') {
    return stop !== null && !state.tools.aborting ? abortTools(state) : 'wait'
  }
  const reply = view.context.pieces.findLast((piece) => piece.message.role === 'assistant')
  if (stop !== null || reply?.isErased === true) {
    const why = stop !== null ? 'Stopped before it began.' : 'Not run: the call was erased.'
    const results = openCalls.map((call) => notRun(call, why))
    return withoutEffects(
      numbered(state, (operation) => ({ tools: { kind: 'ended', operation, results } })),
    )
  }
  return {
    state: { ...state, tools: { kind: 'running', aborting: false }, restingSince: null },
    effects: [{ kind: 'startTools', entry: reply?.number ?? tail, calls: openCallsOf(view) }],
  }
}

function notRun(call: string, body: string) {
  return { call, outcome: 'interrupted', body, tokens: 8 } as const
}

function openCallsOf({ session, context }: SessionView) {
  const reply = context.pieces.findLast((piece) => piece.message.role === 'assistant')?.message
  if (reply?.role !== 'assistant') return []
  return callsOf(reply).filter((call) => session.openCalls.includes(call.id))
}

/** Only a stop, or a person's message under `interrupt`, ends a running step. */
export function handleRunningStep(
  state: State,
  view: SessionView,
  decisions: Decisions,
): RuleOutcome {
  const { step } = state
  if (step.kind !== 'running') return null
  const isUnwanted = decisions.stopOf(view) !== null || decisions.isInterrupted(view)
  if (isUnwanted && !step.aborting) return abortStep(state)
  return claimInBackground(state, view, decisions) ?? 'wait'
}

/**
 * Between two steps a stop ends the turn, even one that waits for a compaction or a model. A turn
 * without a step ends with an empty one, so that its input counts as seen; otherwise the stopped
 * message would start the next turn.
 */
export function endStopped(state: State, view: SessionView, decisions: Decisions): RuleOutcome {
  const { turn, turnState, tail } = view.session
  // Even if the stop has been withdrawn since.
  if (state.inDoubt?.verb === 'commitReply') return commit(state, state.inDoubt)
  if (turnState !== 'running' || decisions.stopOf(view) === null) return null
  const body = withoutCalls(null) as unknown as JsonValue
  const step = { upto: tail, renderer: RENDERER, calls: [], body, tokens: 0 }
  return commitNew(state, (operation) => ({
    verb: 'commitReply',
    request: {
      ...fencedBy(state, view),
      operation,
      turn,
      ...(!hasBegun(view) && { step }),
      ends: { how: 'stopped', replies: [] },
    },
  }))
}

/** A turn continues after the results of a step; any other reply ended it. */
function hasBegun({ context }: SessionView): boolean {
  const last = context.pieces.findLast(({ message }) => message.role !== 'user')
  return last?.message.role === 'tool'
}

export function runStep(state: State, { session, context, wanted }: SessionView): RuleOutcome {
  if (session.turnState !== 'running') return null
  const { turn, tail } = session
  const isRefused = wanted !== undefined && wanted === state.refusedSettings
  if (isRefused && MAY_BE_FOREIGN.includes(session.birth)) {
    const ended = { kind: 'ended', turn, upto: tail, outcome: NO_ROOM } as const
    return withoutEffects(numbered(state, (operation) => ({ step: { ...ended, operation } })))
  }
  if (state.at.mono < state.modelRetryAt) {
    return notifyStepWait(state, turn) ?? waitUntil(state, state.modelRetryAt)
  }
  return {
    state: {
      ...state,
      step: { kind: 'running', turn, upto: tail, aborting: false },
      restingSince: null,
    },
    effects: [{ kind: 'runStep', turn, context }],
  }
}

/**
 * If our settings are refused, the earlier ones apply; in these sessions they may come from a file.
 */
const MAY_BE_FOREIGN: readonly SessionRow['birth'][] = ['imported', 'forked']
const NO_ROOM: StepOutcome & { readonly kind: 'failed' } = {
  kind: 'failed',
  reason:
    'The pins of this session leave no room for the settings of its agent. Remove pins, or choose ' +
    'a model with a larger window.',
  retryable: false,
}
