import type { EmbeddingRoute } from '../../model/embeddings/embedder.ts'
import type { EmbeddingProvider } from '../../model/embeddings/wire.ts'
import type { CredentialSource } from '../../model/routes/credential.ts'
import type { Config } from './schema/schema.ts'

const NONE: CredentialSource = { kind: 'none' }
const USUAL: Readonly<
  Record<EmbeddingProvider, { readonly baseUrl: string; readonly credential: CredentialSource }>
> = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    credential: { kind: 'variable', name: 'OPENAI_API_KEY' },
  },
  'openai-compatible': { baseUrl: '', credential: NONE },
  ollama: { baseUrl: 'http://127.0.0.1:11434', credential: NONE },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    credential: { kind: 'variable', name: 'GEMINI_API_KEY' },
  },
}

/** Undefined: search finds words alone. */
export function embeddingRouteOf({ recall }: Config): EmbeddingRoute | undefined {
  const { embeddings } = recall
  if (embeddings === undefined) return undefined
  const { provider, model } = embeddings
  const { baseUrl, credential } = USUAL[provider]
  return {
    ...{ provider, model },
    baseUrl: embeddings.baseUrl ?? baseUrl,
    credential: embeddings.credential ?? credential,
  }
}
