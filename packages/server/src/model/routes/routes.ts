import { z } from 'zod'
import { KnownError } from '#core/base/errors'
import { PROVIDERS, type ProviderName } from '../providers/names.ts'
import { EFFORTS, type ModelRoute } from './route.ts'

/**
 * Which model a task calls. A task whose provider is `main` uses the main route, with its own model
 * if it names one. A changed configuration builds new routes, and every call looks up its route
 * when it begins, so a task follows the main model as soon as that is switched.
 */
export class Routes {
  readonly #auxiliary: ReadonlyMap<string, TaskRoute>
  readonly #main: ModelRoute
  readonly #fallbacks: readonly ModelRoute[]

  constructor(config: RoutesConfig) {
    this.#main = namedRoute('main', config.main)
    this.#fallbacks = config.fallbacks.map((route, at) => namedRoute(`fallback-${at + 1}`, route))
    this.#auxiliary = new Map(Object.entries(config.auxiliary))
  }

  get main(): ModelRoute {
    return this.#main
  }

  /** The main route, then its fallbacks. */
  forMain(): readonly [ModelRoute, ...ModelRoute[]] {
    return [this.#main, ...this.#fallbacks]
  }

  /** The task's own route and fallbacks; a task on the main route without fallbacks uses main's. */
  forTask(task: string): readonly [ModelRoute, ...ModelRoute[]] {
    const config = this.#auxiliary.get(task)
    if (config === undefined) return this.forMain()
    if (config.provider === 'main' && config.fallbacks.length === 0) {
      return [this.#route(task, config), ...this.#fallbacks]
    }
    const fallbacks = config.fallbacks.map((each, at) =>
      this.#route(`${task}-fallback-${at + 1}`, each),
    )
    return [this.#route(task, config), ...fallbacks]
  }

  /** Every route that a call may use. */
  get providers(): ReadonlySet<ProviderName> {
    const tasks = [...this.#auxiliary.values()].flatMap((task) => [task, ...task.fallbacks])
    const named = [...this.forMain(), ...tasks].map(({ provider }) => provider)
    return new Set(named.filter((provider) => provider !== 'main'))
  }

  #route(name: string, config: TaskRoute | FallbackRoute): ModelRoute {
    if (config.provider !== 'main') return namedRoute(name, config as RouteConfig)
    const model = config.model || this.#main.model
    // The same model on the same route has the same name, so that failures are counted together.
    if (model === this.#main.model) return this.#main
    const { name: _, provider, baseUrl, credential, headers, dialect, isBuiltIn } = this.#main
    return {
      ...{ name: `main:${model}`, provider, baseUrl, credential, model },
      ...(headers !== undefined && { headers }),
      ...(dialect !== undefined && { dialect }),
      ...(isBuiltIn !== undefined && { isBuiltIn }),
    }
  }
}

const credential = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({ kind: z.literal('variable'), name: z.string().min(1) }),
  z.strictObject({
    kind: z.literal('file'),
    path: z.string().min(1),
    field: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal('command'),
    command: z.string().min(1),
    folder: z.string().min(1).optional(),
  }),
])

const settings = {
  headers: z.record(z.string(), z.string()).optional(),
  dialect: z.literal('strict').optional(),
  windowTokens: z.int().positive().optional(),
  outputTokensMax: z.int().positive().optional(),
  images: z.boolean().optional(),
  effort: z.enum(EFFORTS).optional(),
  isBuiltIn: z.boolean().optional(),
}

const route = z.strictObject({
  provider: z.enum(PROVIDERS),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  credential: credential.optional(),
  model: z.string().min(1),
  ...settings,
})

const inherited = z.strictObject({
  provider: z.literal('main'),
  /** Empty means: the main model. */
  model: z.string().default(''),
})

const fallback = z.discriminatedUnion('provider', [route, inherited])

const task = z.discriminatedUnion('provider', [
  route.extend({ fallbacks: z.array(fallback).default([]) }),
  inherited.extend({ fallbacks: z.array(fallback).default([]) }),
])

/** The part of the configuration file that this folder parses. */
export const routesSchema = z.strictObject({
  main: route,
  fallbacks: z.array(route).default([]),
  auxiliary: z.record(z.string(), task).default({}),
})

export type RoutesConfig = z.output<typeof routesSchema>
export type RouteConfig = z.output<typeof route>
type TaskRoute = z.output<typeof task>
type FallbackRoute = z.output<typeof fallback>

export class RouteError extends KnownError {
  override readonly name = 'RouteError'
  readonly code = 'invalid-route'
  readonly retryable = false
}

function namedRoute(name: string, config: RouteConfig): ModelRoute {
  const { provider, model, headers, dialect, windowTokens, outputTokensMax, images, effort } =
    config
  const { isBuiltIn } = config
  const usual = DEFAULTS[provider]
  const baseUrl = config.baseUrl ?? usual.baseUrl
  if (baseUrl === undefined) {
    throw new RouteError(`The route ${name} needs a baseUrl: ${provider} has no usual one.`)
  }
  return {
    name,
    provider,
    baseUrl,
    credential: config.credential ?? usual.credential,
    model,
    ...(headers !== undefined && { headers }),
    ...(dialect !== undefined && { dialect }),
    ...(windowTokens !== undefined && { windowTokens }),
    ...(outputTokensMax !== undefined && { outputTokensMax }),
    ...(images !== undefined && { images }),
    ...(effort !== undefined && { effort }),
    ...(isBuiltIn !== undefined && { isBuiltIn }),
  }
}

const OPENAI = {
  baseUrl: 'https://api.openai.com/v1',
  credential: { kind: 'variable', name: 'OPENAI_API_KEY' },
} as const

const DEFAULTS: {
  readonly [provider in ProviderName]: Pick<ModelRoute, 'credential'> & {
    readonly baseUrl?: string
  }
} = {
  'openai-chat': OPENAI,
  'openai-responses': OPENAI,
  codex: {
    baseUrl: 'https://chatgpt.com/backend-api/codex',
    credential: { kind: 'file', path: '~/.codex/auth.json', field: 'tokens.access_token' },
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    credential: { kind: 'variable', name: 'ANTHROPIC_API_KEY' },
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    credential: { kind: 'variable', name: 'GEMINI_API_KEY' },
  },
  'openai-compatible': { credential: { kind: 'none' } },
}
