import type { ModelRoute } from './route.ts'

/**
 * The input and output limits of a model, by the part of its name that gateways and dated versions
 * keep. A route's own figures win; a provider's "too long" error corrects both. An unknown model is
 * assumed to be small: compacting too early costs a little, too late costs a turn.
 */
export interface ModelCapabilities {
  readonly windowTokens: number
  /** Absent if the provider's own limit is best. */
  readonly outputTokensMax?: number
  readonly seesImages: boolean
}

export function capabilitiesOf({
  model,
  windowTokens,
  outputTokensMax,
  images,
}: Pick<ModelRoute, 'model' | 'windowTokens' | 'outputTokensMax' | 'images'>): ModelCapabilities {
  const name = model.toLowerCase()
  const [, known] = MODELS.find(([pattern]) => pattern.test(name)) ?? [undefined, UNKNOWN]
  return {
    ...known,
    seesImages: images ?? !BLIND.some((pattern) => pattern.test(name)),
    ...(windowTokens !== undefined && { windowTokens }),
    ...(outputTokensMax !== undefined && { outputTokensMax }),
  }
}

type Known = Omit<ModelCapabilities, 'seesImages'>

const UNKNOWN: Known = { windowTokens: 32_768 }

const of = (windowTokens: number, outputTokensMax?: number): Known => ({
  windowTokens,
  ...(outputTokensMax !== undefined && { outputTokensMax }),
})

// The first match wins. Windows are as the providers document them, for input and output together
// if they say so; for OpenAI's newer models, the input limit. Two exceptions: OpenAI documents up to
// 1,050,000 from GPT-5.4 on and Anthropic 1,000,000 for Claude 4.6, but Codex and Claude Code compact
// at the figures below unless they are asked for more, and OpenAI charges twice as much beyond them.
const MODELS: readonly (readonly [RegExp, Known])[] = [
  [/claude-(?:opus|sonnet|haiku|fable|mythos)-5/, of(1_000_000, 128_000)],
  [/claude-opus-4-[78]/, of(1_000_000, 128_000)],
  [/claude-opus-4-6/, of(200_000, 128_000)],
  [/claude-(?:opus|sonnet|haiku)-4-5|claude-sonnet-4/, of(200_000, 64_000)],
  [/claude-opus-4/, of(200_000, 32_000)],
  [/claude-3-[57]/, of(200_000, 8_192)],
  [/claude/, of(200_000, 4_096)],
  [/gpt-5[^/]*-chat/, of(128_000, 16_384)],
  [/codex-spark/, of(100_000, 32_000)],
  [/gpt-[56]|codex/, of(272_000, 128_000)],
  [/gpt-4\.1/, of(1_047_576, 32_768)],
  [/gpt-4o/, of(128_000, 16_384)],
  [/gpt-4-turbo/, of(128_000, 4_096)],
  [/gpt-oss/, of(131_072)],
  [/gpt-4/, of(8_192)],
  [/gpt-3\.5/, of(16_385, 4_096)],
  [/(?:^|[^a-z0-9])o[134](?![a-z0-9.])/, of(200_000, 100_000)],
  [/gemini-(?:2\.5|[3-9])/, of(1_048_576, 65_536)],
  [/gemini/, of(1_048_576, 8_192)],
  [/gemma-?4/, of(262_144)],
  [/gemma-?3/, of(131_072)],
  [/grok-4/, of(256_000)],
  [/deepseek/, of(128_000)],
  [/kimi-k2/, of(256_000)],
  [/glm-(?:4\.[6-9]|5)/, of(200_000)],
  [/qwen-?3/, of(131_072)],
  [/llama-?3\.[1-3]|mistral|devstral|magistral/, of(128_000)],
  [/stand-in/, of(128_000)],
]

// These models are documented as text only. An unknown model gets images; if it cannot read them,
// its provider reports that, and `images: false` beside the model stops it.
const BLIND: readonly RegExp[] = [
  /gpt-3\.5|gpt-oss|(?:^|[^a-z0-9])o[13]-mini/,
  /gpt-4(?!\.1|o|-turbo|\.5|-vision)/,
  /deepseek(?!-vl|-ocr)/,
  /kimi-k2(?!\.)/,
  /glm-(?:4\.[67]|5)(?![\d.]*v)/,
  /qwen-?3(?![^/]*(?:vl|omni))/,
  /llama-?3\.[13]|devstral-small|magistral-small-2506/,
]
