import { randomUUID } from 'node:crypto'
import { isGone, thisHost } from '#core/base/host'
import { Runner, type RunnerParts } from '#core/session/runner/runner'
import { LEASE_TIMES } from '#core/session/runner/runner-lease'
import { type Edge, Sender } from '#core/session/sender'
import type { ResolvedAgent } from './agent.ts'
import type { ModelService } from './models/model-service.ts'
import type { CompleteOptions } from './runtime-options.ts'

const HANDOFF_MS_MAX = 10 * 60_000
const SEND_RETRY_MS = 1_000
const SEND_ATTEMPTS_MAX = 20

interface RunnerDependencies
  extends Required<Pick<RunnerParts, 'store' | 'settingsFor' | 'onNotice'>>,
    Pick<CompleteOptions, 'clock' | 'logger' | 'audit' | 'seams' | 'settings' | 'lease'> {
  readonly models: ModelService
  readonly edges: readonly Edge[]
  readonly agents: () => ReadonlyMap<string, ResolvedAgent>
}

/**
 * The runner of this process: acquires sessions of our agents, runs their turns and sends their
 * replies.
 */
export function openRunner(parts: RunnerDependencies): Runner {
  const { store, clock, logger, models, seams, edges, agents, lease = LEASE_TIMES } = parts
  const { audit, settings, settingsFor, onNotice } = parts
  const tools = seams.tools(models.tools)
  const { model, digest } = models.writers
  return new Runner({
    ...{ store, clock, audit, tools, settings, settingsFor, onNotice, lease },
    steps: seams.steps(models.steps, tools),
    writers: { model: seams.writer(model), digest: seams.writer(digest) },
    decisions: seams.decisions,
    handoffMsMax: HANDOFF_MS_MAX,
    wantedFor: (agent) => agents().get(agent)?.wanted,
    onStop: (id) => models.interrupt(id),
    get agents() {
      return [...agents().keys()]
    },
    host: thisHost(),
    isGone: (row) => seams.isGone(row, isGone(row)),
    random: () => randomUUID().replaceAll('-', ''),
    sender: new Sender({
      ...{ store, clock, edges, retryMs: SEND_RETRY_MS, attemptsMax: SEND_ATTEMPTS_MAX },
    }),
    onCrash: (id, error) => logger.error({ sessionId: id, err: error }, 'session crashed'),
  })
}
