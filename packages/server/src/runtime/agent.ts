import type { JsonObject, JsonValue } from '#core/base/json'
import { fixedTokensMax, limitsFor } from '#core/session/limits'
import type { SessionSettings, WantedSettings } from '#core/session/settings'
import type { BusyPolicy } from '#core/store/tables/rows'
import { estimateText, estimateTools } from '#core/tokens/estimate'
import { familyOf, type ModelFamily } from '#core/tokens/family'
import { Routes, type RoutesConfig } from '../model/routes/routes.ts'
import { capabilitiesOf } from '../model/routes/windows.ts'
import type { McpServerConfig } from '../tools/mcp/server-config.ts'
import type { NoteSharing } from '../tools/memory/visible.ts'
import type { Tool } from '../tools/tool.ts'
import type { AgentSummary } from './runtime.ts'
import type { ToolDependencies } from './tools/tool-dependencies.ts'

/** An agent: its name, system text, models and tools. */
export interface Agent {
  readonly name: string
  readonly system: string
  /** Constraints that stay byte-identical in every context. */
  readonly pins?: Readonly<Record<string, string>>
  readonly routes: RoutesConfig
  /** The main provider's display name, if it differs from its route. */
  readonly provider?: string
  /** The tools, or a function that makes them from the runtime's parts. */
  readonly tools?: readonly Tool[] | ((dependencies: ToolDependencies) => readonly Tool[])
  /** Names of the MCP servers whose tools it gets as well. */
  readonly mcp?: Readonly<Record<string, McpServerConfig>>
  readonly policy?: BusyPolicy
  /** Steps in one turn before the agent is asked to sum up. */
  readonly stepsMax?: number
  /** Overrides the runtime's settings for compaction. */
  readonly settings?: Partial<SessionSettings>
  /** False: no notice when a turn waits for a compaction. */
  readonly notifiesOfCompaction?: boolean
  /** Before a compaction the task `memory` proposes notes, up to this many tokens in all. */
  readonly notes?: NoteSharing & { readonly tokensMax: number }
  /** True: every session sees the notes of all sessions; otherwise only those of its scope. */
  readonly sharesNotes?: boolean
  /** The most tokens that notes may take in a context; default: MEMORY_TOKENS_MAX. */
  readonly notesTokensMax?: number
  readonly mailMax?: { readonly lane: number; readonly source: number }
}

/** An agent with the values derived from its configuration. */
export interface ResolvedAgent {
  readonly agent: Agent
  readonly routes: Routes
  readonly tools: readonly Tool[]
  /** Tools of MCP servers that do not fit its window. */
  readonly leftOut: readonly string[]
  readonly family: ModelFamily
  readonly wanted: WantedSettings
  readonly outputTokens: number
  readonly summary: AgentSummary
}

/** `foreign`: tools of MCP servers; they share the remaining budget, in order. */
export function resolveAgent(
  agent: Agent,
  dependencies: ToolDependencies,
  foreign: readonly Tool[] = [],
): ResolvedAgent {
  const { name, policy = 'steer', mailMax } = agent
  const own = typeof agent.tools === 'function' ? agent.tools(dependencies) : (agent.tools ?? [])
  const routes = new Routes(agent.routes)
  const { main } = routes
  const family = familyOf(main.model)
  const { windowTokens, outputTokensMax } = capabilitiesOf(main)
  const text = systemText(agent)
  const window = { windowTokens, ...(outputTokensMax !== undefined && { outputTokensMax }) }
  const ownTokens = estimateText(text, family) + toolTokens(own, family)
  const budget = fixedTokensMax(window) - ownTokens
  const taken = foreign.filter(({ name }) => !own.some((tool) => tool.name === name))
  const fitting = takeFitting(taken, { budget, family })
  const tools = [...own, ...fitting]
  const tokens = ownTokens + toolTokens(fitting, family)
  const limits = limitsFor({
    ...window,
    fixedTokens: tokens,
    ...(mailMax !== undefined && { laneMailMax: mailMax.lane, sourceMailMax: mailMax.source }),
  })
  const body: JsonObject & { system: string } = {
    system: text,
    model: main.model,
    tools: tools.map((tool) => tool.name),
    toolTokens: tools.map((tool) => toolTokens([tool], family)),
  }
  const toolNames = tools.map((tool) => tool.name)
  return {
    agent,
    routes,
    tools,
    leftOut: taken.filter((tool) => !fitting.includes(tool)).map((tool) => tool.name),
    family,
    wanted: { limits, policy, body, tokens },
    outputTokens: limits.outputTokens,
    summary: {
      ...{
        name,
        model: main.model,
        provider: agent.provider ?? main.provider,
        windowTokens,
        policy,
      },
      tools: toolNames,
    },
  }
}

function toolTokens(tools: readonly Tool[], family: ModelFamily): number {
  const specs = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }))
  return specs.length === 0 ? 0 : estimateTools(specs as unknown as JsonValue, family)
}

/** A server with long tool descriptions must not use up an agent's window. */
function takeFitting(
  tools: readonly Tool[],
  { budget, family }: { readonly budget: number; readonly family: ModelFamily },
): readonly Tool[] {
  let left = budget
  return tools.filter((tool) => {
    // Plus one: each of the separate estimates may be rounded down.
    const tokens = toolTokens([tool], family) + 1
    if (tokens > left) return false
    left -= tokens
    return true
  })
}

/** Configured pins follow the system text, each under its name; they change with the configuration. */
function systemText({ system, pins = {} }: Agent): string {
  const lines = Object.entries(pins).map(([name, text]) => `[${name}] ${text}`)
  return [system, ...lines].filter((part) => part !== '').join('\n\n')
}
