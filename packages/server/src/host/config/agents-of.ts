import { resolveBudget } from '#core/compaction/plan/budget'
import type { BudgetSettings } from '#core/compaction/plan/defaults'
import type { WindowShares } from '#core/session/limits'
import { SESSION_SETTINGS, type SessionSettings } from '#core/session/settings'
import type { BusyPolicy } from '#core/store/tables/rows'
import type { Deadlines } from '../../model/connections/deadlines.ts'
import type { RouteConfig, RoutesConfig } from '../../model/routes/routes.ts'
import { capabilitiesOf } from '../../model/routes/windows.ts'
import type { AgentConfig, ToolsConfig } from './schema/agent.ts'
import type { MainRoute, TaskFallback, TaskRoute } from './schema/route.ts'
import type { CompactionConfig, Config, TaskName } from './schema/schema.ts'

/** An agent as configured: everything that the runtime needs to build one, and nothing opened yet. */
export interface AgentPlan {
  readonly name: string
  readonly system: string
  readonly pins: { readonly [name: string]: string }
  readonly policy: BusyPolicy
  readonly stepsMax: number
  readonly tools: ToolsConfig
  readonly mcp: AgentConfig['mcp']
  readonly routes: RoutesConfig
  readonly auxiliary: { readonly [task in TaskName]: TaskTerms }
  /** For `limitsFor`, which adds the tokens of system text and tools. */
  readonly window: Omit<WindowShares, 'fixedTokens'>
  readonly settings: SessionSettings
  readonly compaction: CompactionPlan
}

export interface TaskTerms {
  readonly deadlines: Deadlines
  readonly shielded: boolean
}

export interface CompactionPlan {
  /** False: compact only on request, and when a turn cannot continue otherwise. */
  readonly isAutomatic: boolean
  /** The preset, overridden by the file. */
  readonly budget: BudgetSettings
  /** Replaces the built-in instructions. */
  readonly prompt?: string
  readonly notices: boolean
  readonly warnFrom: number
  readonly atHardLimit: SessionSettings['atHardLimit']
}

/** `standInUrl` is the address of the built-in model server: `http://127.0.0.1:34567`. */
export function agentsOf(
  config: Config,
  { standInUrl }: { readonly standInUrl: string },
): readonly AgentPlan[] {
  return Object.entries(config.agents).map(([name, agent]) => {
    const { system, pins, policy, stepsMax, tools, mcp } = agent
    const routes = routesOf(agent, config.auxiliary, standInUrl)
    const window = windowOf(routes.main, config)
    const compaction = compactionPlan(config.compaction, window)
    const settings = settingsOf(config, compaction)
    const auxiliary = mapTasks(config.auxiliary, termsOf)
    return {
      name,
      system,
      pins,
      policy,
      stepsMax,
      tools,
      mcp,
      routes,
      auxiliary,
      window,
      settings,
      compaction,
    }
  })
}

/** Whether any agent or task uses the built-in model, so that its server must run. */
export function needsStandIn(config: Config): boolean {
  const routes = [
    ...Object.values(config.agents).flatMap(({ model, fallbacks }) => [model, ...fallbacks]),
    ...Object.values(config.auxiliary).flatMap((task) => [task, ...task.fallbacks]),
  ]
  return routes.some(({ provider }) => provider === 'stand-in')
}

function routesOf(
  { model, fallbacks }: AgentConfig,
  auxiliary: Config['auxiliary'],
  standInUrl: string,
): RoutesConfig {
  const ofTask = (route: TaskFallback) => {
    const { provider } = route
    return provider === 'main'
      ? { provider, model: route.model ?? '' }
      : routeOf({ ...route, provider }, standInUrl)
  }
  return {
    main: routeOf(model, standInUrl),
    fallbacks: fallbacks.map((each) => routeOf(each, standInUrl)),
    auxiliary: mapTasks(auxiliary, (task) => ({
      ...ofTask(routeIn(task)),
      fallbacks: task.fallbacks.map(ofTask),
    })),
  }
}

/** The fields of a task that belong to its route. */
function routeIn(task: TaskRoute): TaskFallback {
  const { provider, model, baseUrl, credential, headers, dialect } = task
  const { windowTokens, outputTokensMax, images, effort } = task
  return {
    ...{ provider, model, baseUrl, credential, headers, dialect },
    ...{ windowTokens, outputTokensMax, images, effort },
  }
}

const STAND_IN = 'stand-in'
/** Any size works; with a small window, a first conversation soon reaches a compaction. */
const STAND_IN_TOKENS = 16_000

function routeOf({ provider, model, ...rest }: MainRoute, standInUrl: string): RouteConfig {
  if (provider !== STAND_IN) return { ...rest, provider, model: model ?? '' }
  return {
    provider: 'openai-compatible',
    baseUrl: `${standInUrl}/v1`,
    credential: { kind: 'none' },
    model: model ?? STAND_IN,
    windowTokens: rest.windowTokens ?? STAND_IN_TOKENS,
    outputTokensMax: rest.outputTokensMax,
    images: rest.images,
    effort: rest.effort,
    isBuiltIn: true,
  }
}

function windowOf(main: RouteConfig, { limits }: Config): AgentPlan['window'] {
  const { model, windowTokens, outputTokensMax } = main
  const known = capabilitiesOf({
    model,
    ...(windowTokens !== undefined && { windowTokens }),
    ...(outputTokensMax !== undefined && { outputTokensMax }),
  })
  return {
    windowTokens: known.windowTokens,
    ...(known.outputTokensMax !== undefined && { outputTokensMax: known.outputTokensMax }),
    ...limits.mailbox,
  }
}

/** The section `compaction` for a model of this size. */
export function compactionPlan(
  compaction: CompactionConfig,
  window: Pick<AgentPlan['window'], 'windowTokens' | 'outputTokensMax'>,
): CompactionPlan {
  const {
    enabled,
    preset,
    prompt,
    notices,
    warnFrom,
    atHardLimit,
    softTokens,
    idleSeconds: _,
    ...said
  } = compaction
  const { windowTokens, outputTokensMax } = window
  const overrides = Object.fromEntries(
    Object.entries(said).filter(([, value]) => value !== undefined),
  ) as Partial<BudgetSettings>
  const sizes = { windowTokens, ...(outputTokensMax !== undefined && { outputTokensMax }) }
  const { settings, hardTokens } = resolveBudget({ ...overrides, ...sizes }, preset)
  // The planner accepts the threshold only as a share.
  const softShare = softTokens === undefined ? settings.softShare : softTokens / hardTokens
  return {
    isAutomatic: enabled,
    budget: { ...settings, softShare: Math.min(1, softShare) },
    notices,
    warnFrom,
    atHardLimit,
    ...(prompt !== undefined && { prompt }),
  }
}

/**
 * From its soft threshold on, a session compacts ahead of need. If that is switched off, the
 * threshold is the hard limit, so a session compacts only if the next step would not fit.
 */
function settingsOf(
  { compaction: { idleSeconds } }: Config,
  { isAutomatic, budget, warnFrom, atHardLimit }: CompactionPlan,
): SessionSettings {
  const { hardTokens, targetTokens } = resolveBudget(budget)
  return {
    ...SESSION_SETTINGS,
    softShare: isAutomatic ? budget.softShare : 1,
    targetShare: targetTokens / hardTokens,
    warnFrom,
    atHardLimit,
    idleCompactionMs: isAutomatic && idleSeconds > 0 ? idleSeconds * 1_000 : null,
  }
}

function termsOf({ deadlines, shielded }: TaskRoute): TaskTerms {
  const { connectSeconds, firstByteSeconds, idleSeconds, totalSeconds } = deadlines
  return {
    shielded,
    deadlines: {
      connectMs: connectSeconds * 1_000,
      firstByteMs: firstByteSeconds * 1_000,
      idleMs: idleSeconds * 1_000,
      totalMs: totalSeconds * 1_000,
    },
  }
}

function mapTasks<Value>(
  { compaction, title, memory, vision }: Config['auxiliary'],
  change: (task: TaskRoute) => Value,
): { readonly [task in TaskName]: Value } {
  return {
    compaction: change(compaction),
    title: change(title),
    memory: change(memory),
    vision: change(vision),
  }
}
