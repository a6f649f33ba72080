/** The models that this machine can use: keys in the environment, a running Ollama. */
export interface ModelChoice {
  readonly label: string
  /** Why it is offered. */
  readonly hint: string
  readonly provider: string
  /** Absent for the stand-in. */
  readonly model?: string
  readonly baseUrl?: string
  readonly windowTokens?: number
}

type Environment = { readonly [name: string]: string | undefined }

const KEYS = [
  {
    variable: 'ANTHROPIC_API_KEY',
    label: 'Anthropic',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
  },
  {
    variable: 'OPENAI_API_KEY',
    label: 'OpenAI',
    provider: 'openai-responses',
    model: 'gpt-5-mini',
  },
  { variable: 'GEMINI_API_KEY', label: 'Google', provider: 'google', model: 'gemini-2.5-flash' },
] as const

const STAND_IN: ModelChoice = {
  label: 'The stand-in',
  hint: 'built in, needs no key, not a real model',
  provider: 'stand-in',
}

/** Best first; the stand-in is always there, last. */
export async function findChoices(
  env: Environment,
): Promise<readonly [ModelChoice, ...ModelChoice[]]> {
  const keyed = KEYS.filter(({ variable }) => env[variable]?.trim()).map(
    ({ variable, ...choice }): ModelChoice => ({ ...choice, hint: `${variable} is set` }),
  )
  const [first, ...rest] = [...keyed, ...(await findOllama(env)), STAND_IN]
  return [first ?? STAND_IN, ...rest]
}

const OLLAMA_MS_MAX = 800

async function findOllama(env: Environment): Promise<readonly ModelChoice[]> {
  const base = ollamaUrl(env['OLLAMA_HOST'])
  if (base === undefined) return []
  try {
    const signal = AbortSignal.timeout(OLLAMA_MS_MAX)
    const response = await fetch(`${base}/api/tags`, { signal, redirect: 'error' })
    const { models } = (await response.json()) as { models?: { name?: unknown }[] }
    const names = (models ?? []).map(({ name }) => name).filter((name) => typeof name === 'string')
    const [model] = names
    if (model === undefined) return []
    return [
      {
        label: 'Ollama',
        hint: `answers at ${base}, ${names.length} model${names.length === 1 ? '' : 's'}`,
        provider: 'openai-compatible',
        model,
        baseUrl: `${base}/v1`,
        // The window depends on how the server was started; this is what a desktop usually has
        // memory for.
        windowTokens: 32_768,
      },
    ]
  } catch {
    return [] // No server there, or not an Ollama.
  }
}

/** Ollama's variable may be a host, a port or an address; 0.0.0.0 is only for listening. */
function ollamaUrl(host: string | undefined): string | undefined {
  const given = host?.trim() || '127.0.0.1:11434'
  const url = URL.parse(/^https?:\/\//.test(given) ? given : `http://${given}`)
  if (url === null) return undefined
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.port === '' && url.protocol === 'http:') url.port = '11434'
  return url.origin
}
