import { basename, join, resolve } from 'node:path'
import { isObject, type JsonValue } from '#core/base/json'
import type { SessionSettings } from '#core/session/settings'
import type { Agent } from '../runtime/agent.ts'
import type { RuntimeOptions } from '../runtime/open-runtime.ts'
import { builtInTools } from './built-in-tools.ts'
import { type AgentPlan, agentsOf } from './config/agents-of.ts'
import { allowanceOf, pricesOf, processLimitsOf, spendLimitsOf } from './config/allowance-of.ts'
import { mcpTerms } from './config/schema/mcp.ts'
import type { Config } from './config/schema/schema.ts'
import { isServer } from './open-store.ts'
import { statePath } from './operating-system.ts'
import { besideStore } from './store-selection.ts'

/** Builds the options of a runtime from a configuration: agents with their tools, and limits. */
export function runtimeTerms(
  config: Config,
  context: {
    readonly standInUrl: string
    /** The folder in which programs start. */
    readonly folder: string
    /** The whole environment of a started program. */
    readonly env: Readonly<Record<string, string>>
    /** The configuration file, if there is one. */
    readonly file?: string | null
  },
): Pick<RuntimeOptions, 'agents' | 'auxiliary' | 'processes' | 'retention'> {
  const plans = agentsOf(config, context)
  const privatePaths = privatePathsOf(config, context)
  return {
    agents: plans.map((plan) => agentFrom(plan, config, { ...context, privatePaths })),
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

/** A folder that holds nothing but the store and its files. */
const OWN_FOLDER = '.throughline'

/**
 * What no tool may read: the store and what is kept beside it, the state of all stores, the
 * configuration, the log, and the files that hold keys.
 */
function privatePathsOf(
  config: Config,
  { file, folder }: { readonly file?: string | null; readonly folder: string },
): readonly string[] {
  const { url } = config.store
  const beside = besideStore(url)
  return [
    isServer(url) || basename(beside) === OWN_FOLDER ? beside : url,
    ...['audit', 'servers', 'http-token', 'rehearsal.json'].map((name) => join(beside, name)),
    statePath(),
    ...(file == null ? [] : [file]),
    ...(config.logging.file === undefined ? [] : [config.logging.file]),
    ...keyFilesIn(config as unknown as JsonValue),
  ].map((path) => resolve(folder, path))
}

/** The paths of all credentials of kind `file`, wherever they stand. */
function keyFilesIn(value: JsonValue | undefined): readonly string[] {
  if (value === null || typeof value !== 'object') return []
  const own = isObject(value) && value['kind'] === 'file' ? [value['path']] : []
  const paths = own.filter((path) => typeof path === 'string')
  return [...paths, ...Object.values(value).flatMap((each) => keyFilesIn(each))]
}

function agentFrom(
  plan: AgentPlan,
  { agents, auxiliary }: Config,
  context: Parameters<typeof builtInTools>[1],
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
