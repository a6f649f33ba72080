import { resolveBudget } from '#core/compaction/plan/budget'
import type { ProviderName } from '../../model/providers/names.ts'
import { Routes } from '../../model/routes/routes.ts'
import { capabilitiesOf } from '../../model/routes/windows.ts'
import { type AgentPlan, agentsOf } from './agents-of.ts'
import type { ConfigEnvironment } from './read/overlay.ts'
import type { ConfigOrigin, ConfigProblem, Path } from './read/problem.ts'
import type { Config } from './schema/schema.ts'

/** Well-formed settings that cannot work, or are probably a mistake. */
export interface Checked {
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly ConfigProblem[]
}

interface CheckContext {
  readonly env: ConfigEnvironment
  readonly originOf: (path: Path) => ConfigOrigin
}

export function checkConfig(config: Config, context: CheckContext): Checked {
  // Nothing is sent, so any address works for building the routes.
  const agents = agentsOf(config, { standInUrl: 'http://127.0.0.1' })
  return {
    problems: agents.flatMap((agent) => thresholdProblems(agent, config, context)).slice(0, 1),
    warnings: [
      ...agents.flatMap((agent) => routeWarnings(agent, context)),
      ...likeNames(config, context),
      ...toolWarnings(config, context),
      ...taskWarnings(config, agents, context),
      ...openDoors(config, context),
    ],
  }
}

/** A compaction that ended above its own threshold would be due again at once. */
function thresholdProblems(
  { name, compaction: { budget: settings } }: AgentPlan,
  { compaction }: Config,
  { originOf }: CheckContext,
): readonly ConfigProblem[] {
  const { softTokens, targetTokens, hardTokens } = resolveBudget(settings)
  if (softTokens > targetTokens) return []
  const keys = ['softTokens', 'softShare', 'targetTokens', 'targetShare', 'preset'] as const
  const key = keys.find((each) => compaction[each] !== undefined) ?? 'softShare'
  return [
    {
      origin: originOf(['compaction', key]),
      text:
        `A compaction is due at ${softTokens.toLocaleString('en')} tokens and ends at ${targetTokens.toLocaleString('en')}, so it would be due ` +
        `again at once (agent ${name}, ${hardTokens.toLocaleString('en')} usable tokens). Raise \`compaction.softShare\` ` +
        'or lower `compaction.targetShare`.',
    },
  ]
}

const UNKNOWN = capabilitiesOf({ model: '' })

function routeWarnings(
  { name, routes }: AgentPlan,
  { env, originOf }: CheckContext,
): readonly ConfigProblem[] {
  const agentOrigin = originOf(['agents', name, 'model'])
  const all = new Routes(routes)
  const used = [
    ...all.forMain(),
    ...Object.keys(routes.auxiliary).flatMap((task) => [...all.forTask(task)]),
  ]
  const different = new Map(used.map((route) => [JSON.stringify({ ...route, name: '' }), route]))
  return [...different.values()].flatMap(({ model, windowTokens, credential }) => {
    const known = capabilitiesOf({ model })
    const isKnown = known.windowTokens !== UNKNOWN.windowTokens
    const texts = []
    if (windowTokens === undefined && !isKnown) {
      texts.push(
        `The context window of ${model} is unknown; ${UNKNOWN.windowTokens.toLocaleString('en')} tokens are assumed. ` +
          'Set `windowTokens` beside the model.',
      )
    }
    if (credential.kind === 'variable' && !env[credential.name]?.trim()) {
      texts.push(
        `The variable ${credential.name} is empty; ${model} will refuse to answer the agent ${name}.`,
      )
    }
    return texts.map((text) => ({ origin: agentOrigin, text }))
  })
}

function likeNames({ agents }: Config, { originOf }: CheckContext): readonly ConfigProblem[] {
  const seen = new Map<string, string>()
  return Object.keys(agents).flatMap((name) => {
    const folded = name.toLowerCase().replaceAll('-', '_')
    const other = seen.get(folded)
    seen.set(folded, name)
    if (other === undefined) return []
    const text = `The agents ${other} and ${name} differ only in case or dashes; environment variables cannot name the second.`
    return [{ origin: originOf(['agents', name]), text }]
  })
}

function toolWarnings({ agents }: Config, { originOf }: CheckContext): readonly ConfigProblem[] {
  return Object.entries(agents)
    .filter(([, { tools }]) => tools.process.enabled && tools.process.programs.length === 0)
    .map(([name]) => ({
      origin: originOf(['agents', name, 'tools', 'process']),
      text: `The agent ${name} has the tool process but may start no program; list some under \`programs\`.`,
    }))
}

/** Settings of a task that have no effect. */
function taskWarnings(
  { auxiliary, agents: configured }: Config,
  agents: readonly AgentPlan[],
  { originOf }: CheckContext,
): readonly ConfigProblem[] {
  const { compaction, memory } = auxiliary
  const doubts: ConfigProblem[] = []
  const doubt = (path: Path, text: string) => doubts.push({ origin: originOf(path), text })
  for (const { name, routes } of agents) {
    const all = new Routes(routes)
    const [{ provider }] = all.forTask('compaction')
    if (compaction.atProvider && provider !== 'anthropic') {
      const why = SEALED.includes(provider)
        ? `only ${provider} can read its own compactions`
        : `${provider} has no known compaction endpoint`
      doubt(
        ['auxiliary', 'compaction', 'atProvider'],
        `\`auxiliary.compaction.atProvider\` has no effect for the agent ${name}: ${why}. The model gets a written request instead.`,
      )
    }
    const isBlind = !capabilitiesOf(all.main).seesImages
    if (isBlind && !all.forTask('vision').some((route) => capabilitiesOf(route).seesImages)) {
      doubt(
        ['auxiliary', 'vision'],
        `The model of the agent ${name} sees no images, and no route of \`auxiliary.vision\` does: images will be named but not described.`,
      )
    }
  }
  const keepers = Object.values(configured).filter(({ tools }) => tools.memory.enabled)
  if (memory.enabled && keepers.length === 0) {
    doubt(
      ['auxiliary', 'memory', 'enabled'],
      '`auxiliary.memory.enabled` has no effect: no agent has the tool `memory`.',
    )
  }
  const isMain = memory.provider === 'main' && memory.model === undefined
  if (!memory.enabled && !isMain) {
    doubt(
      ['auxiliary', 'memory'],
      '`auxiliary.memory` has no effect: switch it on with `auxiliary.memory.enabled`.',
    )
  }
  return doubts
}

/** Only these providers have their own compaction, which no other can read; a handoff is text. */
const SEALED: readonly ProviderName[] = ['openai-responses', 'codex']

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[?::1\]?)$/

function openDoors({ http }: Config, { originOf }: CheckContext): readonly ConfigProblem[] {
  if (!http.enabled || LOOPBACK.test(http.host)) return []
  const text = `${http.host} can be reached from other machines; callers need a token there.`
  return [{ origin: originOf(['http', 'host']), text }]
}
