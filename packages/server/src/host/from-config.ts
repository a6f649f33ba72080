import type { SessionSettings } from '#core/session/settings'
import type { Agent } from '../runtime/agent.ts'
import type { RuntimeOptions } from '../runtime/open-runtime.ts'
import { builtInTools } from './built-in-tools.ts'
import { type AgentPlan, agentsOf } from './config/agents-of.ts'
import { allowanceOf, pricesOf, processLimitsOf, spendLimitsOf } from './config/allowance-of.ts'
import { mcpTerms } from './config/schema/mcp.ts'
import type { Config } from './config/schema/schema.ts'

/** Builds the options of a runtime from a configuration: agents with their tools, and limits. */
export function runtimeTerms(
  config: Config,
  context: {
    readonly standInUrl: string
    /** The folder in which programs start. */
    readonly folder: string
    /** The whole environment of a started program. */
    readonly env: Readonly<Record<string, string>>
  },
): Pick<RuntimeOptions, 'agents' | 'auxiliary' | 'processes' | 'retention'> {
  const plans = agentsOf(config, context)
  return {
    agents: plans.map((plan) => agentFrom(plan, config, context)),
    auxiliary: {
      tasks: tasksFrom(plans),
      allowance: allowanceOf(config),
      prices: pricesOf(config),
      spend: spendLimitsOf(config),
      summaries: { atProvider: config.auxiliary.compaction.atProvider },
    },
    processes: processLimitsOf(config),
    retention: { sent: config.limits.keepSentDays, calls: config.limits.keepCallDays },
  }
}

function agentFrom(
  plan: AgentPlan,
  { agents, auxiliary }: Config,
  context: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Agent {
  const { name, system, pins, routes, policy, stepsMax, window } = plan
  const isShared = plan.tools.memory.scope === 'agent'
  const { laneMailMax: lane, sourceMailMax: source } = window
  const mailMax = lane === undefined || source === undefined ? undefined : { lane, source }
  return {
    ...{ name, system, pins, routes, policy, stepsMax },
    provider: agents[name]?.model.provider ?? routes.main.provider,
    tools: builtInTools(plan.tools, context),
    mcp: mcpTerms(plan.mcp, context),
    settings: settingsFrom(plan),
    notifiesOfCompaction: plan.compaction.notices,
    sharesNotes: isShared,
    notesTokensMax: plan.tools.memory.tokensMax,
    ...(auxiliary.memory.enabled &&
      plan.tools.memory.enabled && { notes: { tokensMax: plan.tools.memory.tokensMax, isShared } }),
    ...(mailMax !== undefined && { mailMax }),
  }
}

function settingsFrom(plan: AgentPlan): SessionSettings {
  const { keepTokens, protectFirst, protectLast, userTokens, ledgerTokens, summaryTokens } =
    plan.compaction.budget
  const sections = {
    keepTokens,
    protectFirst,
    protectLast,
    userTokens,
    ledgerTokens,
    summaryTokens,
  }
  const { prompt } = plan.compaction
  return {
    ...plan.settings,
    sections: Object.fromEntries(
      Object.entries(sections).filter(([, value]) => value !== undefined),
    ),
    ...(prompt !== undefined && { prompt }),
  }
}

function tasksFrom([plan]: readonly AgentPlan[]) {
  return Object.fromEntries(
    Object.entries(plan?.auxiliary ?? {}).map(([task, { deadlines, shielded }]) => [
      task,
      { deadlines, onInterrupt: shielded ? ('defer' as const) : ('stop' as const) },
    ]),
  )
}
