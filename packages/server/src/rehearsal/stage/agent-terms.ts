import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '#core/base/json'
import { configSchema } from '../../host/config/schema/schema.ts'
import { runtimeTerms } from '../../host/from-config.ts'
import type { Agent } from '../../runtime/agent.ts'
import type { RuntimeOptions } from '../../runtime/open-runtime.ts'
import { type AgentOptions, ATTEMPTS_MAX, LOSSES_MAX, policyOf, SUMMARY_MODEL } from '../terms.ts'

/**
 * The agents of one process, made from a configuration as `serve` would, with times so short that a
 * minute covers what otherwise takes days. Beside the usual tools they have one with an external
 * effect: it hands over parcels, and no parcel may be handed over twice.
 */
export function agentTerms(
  options: AgentOptions,
  onEffect: (parcel: string) => void,
): Pick<RuntimeOptions, 'agents' | 'auxiliary'> {
  const { serves, modelUrl, windowTokens, folder, isOnStage } = options
  const route = (model: string) => ({
    ...{ provider: 'openai-compatible', baseUrl: `${modelUrl}/v1`, model },
    credential: { kind: 'none' },
  })
  const off = { pin: false, send_message: false, memory: false, schedule: false }
  const process = isOnStage ? false : { programs: [WATCHED_PROGRAM] }
  const config = configSchema.parse({
    agents: Object.fromEntries(
      serves.map((name) => [
        name,
        {
          system: `You are ${name}. You keep what you are told.`,
          model: { ...route(name), windowTokens, outputTokensMax: Math.floor(windowTokens / 20) },
          policy: policyOf(name),
          tools: { ...off, process },
        },
      ]),
    ),
    auxiliary: {
      compaction: { ...route(SUMMARY_MODEL), windowTokens: 32_000, deadlines: DEADLINES },
      title: { ...route('title'), windowTokens: 32_000 },
    },
  })
  const terms = runtimeTerms(config, { standInUrl: modelUrl, folder, env: {} })
  const tool = parcelTool(join(folder, EFFECTS_FILE), onEffect)
  return { ...terms, agents: terms.agents.map((agent) => hurried(agent, tool, isOnStage)) }
}

/** Each line is one parcel that was handed over. */
export const EFFECTS_FILE = 'handed-over'

/** The program that watched processes run; it certainly exists. */
export const WATCHED_PROGRAM = process.execPath

const DEADLINES = { connectSeconds: 3, firstByteSeconds: 4, idleSeconds: 2, totalSeconds: 15 }

const PACE = {
  lingerMs: 2_000,
  retryMs: 100,
  retryMsMax: 1_000,
  modelRetryMs: 200,
  modelRetryMsMax: 1_000,
  // A rehearsal requests more summaries in a minute than a normal day.
  attemptsPerWindow: 1_000,
  idleCompactionMs: null,
}

/** Idle sessions are released soon, and repeated failures are counted. */
const STAGE_PACE = {
  ...PACE,
  lingerMs: 400,
  attemptsPerWindow: ATTEMPTS_MAX,
  attemptWindowMs: 60_000,
  lossesMax: LOSSES_MAX,
}

type Tool = Extract<NonNullable<Agent['tools']>, readonly unknown[]>[number]

function hurried(agent: Agent, tool: Tool, isOnStage: boolean): Agent {
  const { tools = [] } = agent
  return {
    ...agent,
    settings: { ...agent.settings, ...(isOnStage ? STAGE_PACE : PACE) },
    tools: (desk) => [...(typeof tools === 'function' ? tools(desk) : tools), tool],
  }
}

// Leaves time for a kill between the effect and its commit.
const RESULT_MS = 120

function parcelTool(file: string, onEffect: (parcel: string) => void): Tool {
  return {
    name: 'hand_over',
    description: 'Hand a parcel over.',
    inputSchema: {
      ...{ type: 'object', properties: { parcel: { type: 'string' } } },
      ...{ required: ['parcel'], additionalProperties: false },
    },
    isRepeatable: false,
    async run({ input }) {
      const parcel = String(isObject(input) ? input['parcel'] : '')
      appendFileSync(file, `${parcel}\n`)
      onEffect(parcel)
      await new Promise((resolve) => setTimeout(resolve, RESULT_MS))
      return { outcome: 'ok', output: `Parcel ${parcel} is handed over.` }
    },
  }
}
