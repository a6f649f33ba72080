import { z } from 'zod'
import { EMBEDDING_PROVIDERS } from '../../../model/embeddings/wire.ts'
import { routesSchema } from '../../../model/routes/routes.ts'
import { needsRestart } from './values.ts'

const { baseUrl, credential } = routesSchema.shape.main.shape

const embeddings = z
  .strictObject({
    provider: z
      .enum(EMBEDDING_PROVIDERS)
      .describe('Whose interface the host has; `google` is Gemini.'),
    model: z
      .string()
      .min(1, { error: 'should be the name of a model' })
      .max(200)
      .describe('The model that embeds. Another one embeds everything again.'),
    baseUrl: baseUrl.describe(
      'The address of the host, if it is not the usual one. Required for `openai-compatible`.',
    ),
    credential: credential.describe(
      "Where the key comes from, written as for a model. Default: the provider's usual variable; none for `ollama`.",
    ),
  })
  .refine(({ provider, baseUrl: url }) => provider !== 'openai-compatible' || url !== undefined, {
    path: ['baseUrl'],
    error: 'is missing; the provider openai-compatible has no usual address',
  })
  .optional()
  .meta({
    description:
      'Search by meaning as well as by words. The text of every message, and every question, is sent to this host. Default: nothing is sent, and search finds words.',
    ...needsRestart,
  })

export const recallSettings = z.strictObject({ embeddings }).prefault({})
