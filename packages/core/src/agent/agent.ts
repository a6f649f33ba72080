import { setImmediate as breathe } from 'node:timers/promises'
import { systemClock } from '../base/clock.ts'
import { isGone, thisHost } from '../base/host.ts'
import { type SessionId, sessionId } from '../base/ids.ts'
import { SILENT } from '../base/logger.ts'
import { checkCount, checkKeys } from '../base/option-checks.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import { EventHub } from '../session/events/event-hub.ts'
import { handoffWriter } from '../session/handoff.ts'
import { Runner } from '../session/runner/runner.ts'
import { LEASE_TIMES } from '../session/runner/runner-lease.ts'
import { SESSION_SETTINGS } from '../session/settings.ts'
import { openSession } from './agent-session.ts'
import { agentSettings, checkAgentOptions, checkId } from './agent-settings.ts'
import { AgentSteps } from './agent-steps.ts'
import { AgentTools } from './agent-tools.ts'
import type { AgentSession, DurableAgent, OpenAgentOptions } from './agent-types.ts'
import { checkedSession, checkSearch } from './checked-session.ts'
import { summaryWriter } from './compact-messages.ts'
import { infoOf, searchAgent } from './session-reader.ts'
import type { AnyFormat } from './typed-formats/format.ts'

const HANDOFF_MS_MAX = 600_000
const RETRY_MS = 1_000
const SESSIONS_LIMIT = 50

/**
 * Durable sessions around your own model call. Each message is stored before `send` resolves and is
 * answered once; steps and tools survive crashes; long conversations are compacted in the
 * background.
 *
 * ```ts
 * await using agent = await openAgent({
 *   store, name: 'support', format: openaiChat, contextWindow: 128_000,
 *   step: ({ request, signal }) =>
 *     openai.chat.completions.create({ model: 'gpt-5', ...request }, { signal }),
 * })
 * const answer = await agent.session(userId).ask(text, { key: messageId })
 * ```
 */
export async function openAgent<F extends AnyFormat>(
  options: OpenAgentOptions<F>,
): Promise<DurableAgent<F>> {
  checkAgentOptions(options)
  await options.store.readStore()
  return startAgent(options)
}

function startAgent<F extends AnyFormat>(options: OpenAgentOptions<F>): DurableAgent<F> {
  const { store, name, system = '', summarize, retry = {} } = options
  const { limits, fixedTokens, request, countMessage, countTokens } = agentSettings(options)
  const counters = { countTokens, countMessage }
  const write = summarize !== undefined && { summarize: summaryWriter(summarize) }
  const writers = {
    model: handoffWriter(counters, { breathe, ...write }),
    digest: handoffWriter(counters, { breathe }),
  }
  const hub = new EventHub({
    ...{ store, clock: systemClock, logger: SILENT, readWaitNotices: async () => [] },
  })
  const runner = new Runner({
    ...{ store, clock: systemClock, writers, handoffMsMax: HANDOFF_MS_MAX, agents: [name] },
    steps: new AgentSteps(options, { hub, request, count: countMessage }),
    tools: new AgentTools(options, countMessage),
    settings: { ...SESSION_SETTINGS, modelRetryMs: retry.delayMs ?? RETRY_MS },
    wantedFor: () => ({ limits, body: { system }, tokens: fixedTokens }),
    ...{ host: thisHost(), isGone, lease: LEASE_TIMES },
    random: () => crypto.randomUUID().replaceAll('-', ''),
  })
  runner.start()

  const closing = new AbortController()
  const parts = {
    ...{ store, hub, name, limits, request, countMessage, countTokens },
    ...{ format: options.format, closing: closing.signal },
    wake: (id: SessionId) => runner.wake(id),
  }
  const close = async () => {
    closing.abort(
      new ThroughlineError(
        'closed',
        `The agent "${name}" was closed. Open it again with openAgent.`,
      ),
    )
    await runner.close()
  }
  return {
    name,
    session(id: string): AgentSession<F> {
      checkId('session', id)
      closing.signal.throwIfAborted()
      return checkedSession(openSession<F>(parts, sessionId(id)))
    },
    async sessions(query = {}) {
      checkKeys(query, ['after', 'limit'], 'query')
      const { after, limit = SESSIONS_LIMIT } = query
      if (after !== undefined) checkId('after', after)
      checkCount('limit', limit, 'sessions')
      const behind = after !== undefined && { after: sessionId(after) }
      const rows = await store.listSessions({ agent: name, limit, ...behind })
      return await Promise.all(rows.map((row) => infoOf(store, row)))
    },
    async search(text, query = {}) {
      checkSearch(text, query)
      return await searchAgent(parts, text, query)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
