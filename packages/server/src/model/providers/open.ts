import type { LanguageModelV4 } from '@ai-sdk/provider'
import { readProviderFailure } from './failure.ts'
import type { ProviderName } from './names.ts'
import { optionsFor } from './options.ts'
import { PackageStream } from './parts.ts'
import type { ProviderCall, ProviderPart, ProviderStream } from './provider.ts'

/**
 * Starts a call. The answer may begin long after the request was sent: some packages read the first
 * events before they return. Never rejects: a failure is a stream of one part, or an empty one if
 * only the exchange knows what happened.
 */
export async function openProvider(call: ProviderCall): Promise<ProviderStream> {
  try {
    const model = await MODELS[call.route.provider](call)
    const { stream } = await model.doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: call.placeholder }] }],
      includeRawChunks: call.wantsEvents,
      headers: { ...call.headers },
      ...(call.tools.length > 0 && {
        tools: call.tools.map(({ name, description, inputSchema }) => ({
          type: 'function' as const,
          name,
          ...(description !== undefined && { description }),
          inputSchema: { ...inputSchema },
        })),
      }),
      ...optionsFor(call),
    })
    return new PackageStream(stream)
  } catch (error) {
    return failedStream(readProviderFailure(error))
  }
}

/**
 * A call that is never sent and gets an empty answer. The first call of a process loads the
 * provider's package and much of Node's fetch, which blocks the event loop for 50 to 70 ms, so this
 * is done before there are users. Never rejects.
 */
export async function warmUp(provider: ProviderName): Promise<void> {
  const headers = { 'content-type': 'text/event-stream' }
  const stream = await openProvider({
    route: {
      ...{ name: 'warm-up', provider, model: 'none', baseUrl: 'http://localhost' },
      credential: { kind: 'none' },
    },
    credential: '',
    placeholder: '',
    fetch: async () => new Response('data: [DONE]\n\n', { headers }),
    headers: {},
    tools: [],
    wantsEvents: true,
  })
  await stream.run(() => undefined)
}

type OpenModel = (call: ProviderCall) => Promise<LanguageModelV4>

// Keys and URLs are always passed; without them the packages read the environment.
const MODELS: { readonly [provider in ProviderName]: OpenModel } = {
  'openai-chat': async (call) => (await openaiOf(call)).chat(call.route.model),
  'openai-responses': async (call) => (await openaiOf(call)).responses(call.route.model),
  codex: async (call) => (await openaiOf(call)).responses(call.route.model),
  async anthropic(call) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic(settingsOf(call))(call.route.model)
  },
  async google(call) {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle(settingsOf(call))(call.route.model)
  },
  async 'openai-compatible'(call) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const { apiKey, ...settings } = settingsOf(call)
    // Local servers need no key, and a dummy key would be sent.
    const key = call.credential === '' ? {} : { apiKey }
    const own = { name: 'compatible', includeUsage: true }
    return createOpenAICompatible({ ...settings, ...key, ...own })(call.route.model)
  },
}

async function openaiOf(call: ProviderCall) {
  const { createOpenAI } = await import('@ai-sdk/openai')
  return createOpenAI(settingsOf(call))
}

function settingsOf({ route, credential, fetch }: ProviderCall) {
  return {
    baseURL: route.baseUrl.replace(/\/$/, ''),
    apiKey: credential === '' ? 'none' : credential,
    headers: { ...route.headers },
    fetch,
  }
}

function failedStream(part: ProviderPart | undefined): ProviderStream {
  return {
    async run(take) {
      if (part !== undefined) take(part)
    },
    cancel: () => {},
  }
}
