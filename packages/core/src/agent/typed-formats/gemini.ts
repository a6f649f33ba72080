/** `@throughline/core/gemini`: the format of `generateContent`, for `@google/genai`. */
import { geminiDialect } from '../../message/dialects/gemini.ts'
import { geminiFormat } from '../../message/formats/gemini/gemini.ts'
import { type Format, makeFormat, splitSystem } from './format.ts'

/**
 * `Content` of `@google/genai`, as far as we read it. Either can be given for the other, so that its
 * types need not be imported: it is not a dependency.
 */
export interface GeminiContent {
  role?: string
  parts?: GeminiPart[]
}

export interface GeminiPart {
  text?: string
  thought?: boolean
  thoughtSignature?: string
  functionCall?: { id?: string; name?: string; args?: Record<string, unknown> }
  functionResponse?: { id?: string; name?: string; response?: Record<string, unknown> }
  inlineData?: { data?: string; mimeType?: string; displayName?: string }
  fileData?: { fileUri?: string; mimeType?: string; displayName?: string }
}

export interface Gemini {
  readonly message: GeminiContent
  readonly request: {
    contents: GeminiContent[]
    config?: {
      systemInstruction?: string
      tools?: {
        functionDeclarations: { name: string; description: string; parametersJsonSchema: unknown }[]
      }[]
    }
  }
  /** The response of `generateContent`, or the content of a candidate. */
  readonly reply: { readonly candidates?: { readonly content?: GeminiContent }[] } | GeminiContent
}

/**
 * Contents of Gemini: `ai.models.generateContent({ model, ...request })`. Settings of your own go
 * into `config: { ...request.config, … }`.
 */
export const gemini: Format<Gemini> = /* @__PURE__ */ makeFormat<Gemini>({
  codec: geminiFormat,
  dialect: geminiDialect,
  family: 'gemini',
  request(messages, tools) {
    const { system, rest } = splitSystem(messages)
    const functionDeclarations = tools.map(({ name, description, schema }) => ({
      ...{ name, description, parametersJsonSchema: schema },
    }))
    const config = {
      ...(system !== '' && { systemInstruction: system }),
      ...(tools.length > 0 && { tools: [{ functionDeclarations }] }),
    }
    return {
      contents: geminiFormat.format({ format: 'gemini', messages: rest, notes: [] }),
      ...(Object.keys(config).length > 0 && { config }),
    }
  },
  itemsOf(reply) {
    const { candidates, parts } = reply as {
      readonly candidates?: readonly { readonly content?: GeminiContent }[]
      readonly parts?: unknown
    }
    const content = candidates === undefined ? reply : candidates[0]?.content
    if (content === undefined || (candidates === undefined && parts === undefined)) return null
    return [{ role: 'model', ...content }]
  },
})
