import type { JsonObject, JsonValue } from '../base/json.ts'
import { Routes, type RoutesConfig } from '../model/routes.ts'
import { capabilitiesOf } from '../model/windows.ts'
import type { SessionSettings, WantedSettings } from '../session/state.ts'
import type { BusyPolicy } from '../store/rows.ts'
import { estimateText, estimateTools } from '../tokens/estimate.ts'
import { familyOf, type ModelFamily } from '../tokens/family.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolDesk } from './built-in-tools.ts'
import { limitsFor } from './limits.ts'
import type { AgentSummary } from './runtime.ts'

/** Who answers: a name, what it is told, which models it talks to, and what it can do. */
export interface Agent {
  readonly name: string
  readonly system: string
  /** Constraints that stay byte-identical in every context. */
  readonly pins?: Readonly<Record<string, string>>
  readonly routes: RoutesConfig
  /** The tools, or how they are made from what the runtime has. */
  readonly tools?: readonly Tool[] | ((desk: ToolDesk) => readonly Tool[])
  readonly policy?: BusyPolicy
  /** Steps in one turn before the agent is asked to sum up. */
  readonly stepsMax?: number
  /** When and how its sessions are compacted, where that differs from the runtime's. */
  readonly settings?: Partial<SessionSettings>
  /** False: nobody is told when a turn waits for a compaction. */
  readonly tellsWaits?: boolean
  readonly mailMax?: { readonly lane: number; readonly source: number }
}

/** An agent with what follows from it. */
export interface AgentDesk {
  readonly agent: Agent
  readonly routes: Routes
  readonly tools: readonly Tool[]
  readonly family: ModelFamily
  readonly wanted: WantedSettings
  readonly outputTokens: number
  readonly summary: AgentSummary
}

export function deskOf(agent: Agent, toolDesk: ToolDesk): AgentDesk {
  const { name, system, policy = 'steer', mailMax } = agent
  const tools = typeof agent.tools === 'function' ? agent.tools(toolDesk) : (agent.tools ?? [])
  const routes = new Routes(agent.routes)
  const { main } = routes
  const family = familyOf(main.model)
  const { windowTokens, outputTokensMax } = capabilitiesOf(main)
  const specs = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }))
  const text = systemText(agent)
  const tokens = estimateText(text, family) + estimateTools(specs as unknown as JsonValue, family)
  const limits = limitsFor({
    windowTokens,
    ...(outputTokensMax !== undefined && { outputTokensMax }),
    fixedTokens: tokens,
    ...(mailMax !== undefined && { laneMailMax: mailMax.lane, sourceMailMax: mailMax.source }),
  })
  const body: JsonObject & { system: string } = {
    system: text,
    model: main.model,
    tools: tools.map((tool) => tool.name),
  }
  const toolNames = tools.map((tool) => tool.name)
  return {
    agent: { ...agent, system },
    routes,
    tools,
    family,
    wanted: { limits, policy, body, tokens },
    outputTokens: limits.outputTokens,
    summary: {
      ...{ name, model: main.model, provider: main.provider, windowTokens, policy },
      tools: toolNames,
    },
  }
}

/** Configured pins follow the system text, each under its name; they change with the configuration. */
function systemText({ system, pins = {} }: Agent): string {
  const lines = Object.entries(pins).map(([name, text]) => `[${name}] ${text}`)
  return [system, ...lines].filter((part) => part !== '').join('\n\n')
}
