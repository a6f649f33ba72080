import type { Clock } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import type { SessionId } from '#core/base/ids'
import { loadParts } from '#core/session/blobs'
import type { AttemptId, LiveEvent } from '#core/session/events/runtime-event'
import { callsOf, type StepRequest, type StepRunner } from '#core/session/step'
import type { Store } from '#core/store/contract'
import { DEADLINES } from '../../model/connections/deadlines.ts'
import type { Model } from '../../model/model.ts'
import type { ModelRoute } from '../../model/routes/route.ts'
import type { Calibrations } from '../../turn/calibrations.ts'
import {
  type CallRecord,
  type LivePiece,
  modelSteps,
  type StepAgent,
} from '../../turn/model-steps.ts'
import type { ResolvedAgent } from '../agent.ts'
import { ImageTexts } from '../sessions/image-texts.ts'
import type { TurnTools } from '../tools/turn-tools.ts'
import type { AuxiliaryService } from './auxiliary-service.ts'
import { countersOf } from './counters.ts'
import type { TurnCalls } from './turn-calls.ts'

export interface TurnStepsParts {
  readonly store: Store
  readonly clock: Clock
  readonly agents: () => ReadonlyMap<string, ResolvedAgent>
  readonly onLive: (sessionId: SessionId, event: LiveEvent) => void
  /** The step's text is about to be committed and is no longer published as running. */
  readonly onStepEnd: (sessionId: SessionId) => void
}

interface Shared {
  readonly auxiliary: AuxiliaryService
  readonly calibrations: Calibrations
  readonly turnTools: TurnTools
  readonly openModel: (route: ModelRoute) => Model
  readonly onCall: (record: CallRecord) => void
  readonly reasonToPause: (request: StepRequest) => Promise<string | null>
  readonly calls: Pick<TurnCalls, 'recorded' | 'recordedButLast'>
}

const STEPS_MAX = 50

/**
 * Runs the steps of all agents' turns: loads images and files into the context and publishes text
 * as it arrives.
 */
export function turnSteps(parts: TurnStepsParts, shared: Shared): StepRunner {
  const { store, clock, agents, onLive, onStepEnd } = parts
  const { auxiliary, calibrations, turnTools, openModel, onCall, reasonToPause, calls } = shared
  const imageTexts = new ImageTexts(clock)
  const agentOf = (name: string, request: StepRequest): StepAgent | undefined => {
    const resolved = agents().get(name)
    if (resolved === undefined) return undefined
    const { sessionId } = request
    const own = auxiliary.of(resolved)
    // A stop of the step must not cancel a shielded description.
    const { stopsVision } = auxiliary
    const open = (route: ModelRoute) =>
      imageTexts.through(openModel(route), (image, stop) => {
        const signal = stopsVision ? stop : auxiliary.signal
        return own.describeImage(image, { sessionId, signal })
      })
    const [main, ...fallbacks] = resolved.routes.forMain()
    return {
      models: [open(main), ...fallbacks.map(open)],
      tools: turnTools.of(request, resolved.tools),
      stepsMax: resolved.agent.stepsMax ?? STEPS_MAX,
      outputTokensMax: resolved.outputTokens,
      countMessage: countersOf(resolved.family).countMessage,
    }
  }
  const steps = modelSteps({
    ...{ agentOf, clock, calibrations, onCall, reasonToPause },
    deadlines: DEADLINES,
    random: Math.random,
    onPiece: ({ sessionId, turn, step, attempt }, piece) =>
      onLive(sessionId, liveEvent(piece, { turn, step, attempt })),
  })
  return {
    async run(request, signal) {
      const { sessionId, turn, upto } = request
      auxiliary.noteTurn(request)
      let { context } = request
      try {
        context = await loadParts(store, sessionId, context)
      } catch (error) {
        if (!(error instanceof KnownError)) throw error
        return { kind: 'failed', reason: error.message, retryable: error.retryable }
      }
      const outcome = await steps
        .run({ ...request, context }, signal)
        .finally(() => onStepEnd(sessionId))
      // The cost of a step is stored before the step itself, or with it.
      if (outcome.kind === 'replied') await calls.recordedButLast(sessionId)
      else await calls.recorded(sessionId)
      const resolved = agents().get(request.agent)
      const isLast = outcome.kind === 'replied' && callsOf(outcome.message).length === 0
      if (isLast && resolved !== undefined && request.isTitled !== true) {
        const messages = [...request.context, outcome.message]
        auxiliary.nameSession(resolved, { sessionId, turn, upto, messages })
      }
      return outcome
    },
  }
}

function liveEvent(piece: LivePiece, id: AttemptId): LiveEvent {
  if (piece.kind === 'retry') {
    const { text, nextTryAt } = piece
    return { kind: 'notice', turn: id.turn, code: 'retrying', text, nextTryAt, isUpdate: true }
  }
  if (piece.kind === 'void' || piece.kind === 'call') return { ...piece, ...id }
  const kind = piece.kind === 'text' ? 'delta' : 'reasoning'
  return { kind, text: piece.text, ...id }
}
