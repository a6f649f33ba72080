import { expect, it } from 'vitest'
import { capabilitiesOf } from './windows.ts'

/** As the providers document them. */
it.each([
  ['claude-opus-4-5-20251101', 200_000, 64_000, true],
  ['claude-opus-5-5', 1_000_000, 128_000, true],
  ['claude-sonnet-5', 1_000_000, 128_000, true],
  ['claude-haiku-5-5', 1_000_000, 128_000, true],
  ['us.anthropic.claude-fable-5-2', 1_000_000, 128_000, true],
  ['claude-opus-4-8', 1_000_000, 128_000, true],
  ['claude-opus-4-6', 200_000, 128_000, true],
  ['anthropic/claude-sonnet-4-6', 200_000, 64_000, true],
  ['claude-opus-4-1', 200_000, 32_000, true],
  ['claude-3-7-sonnet-latest', 200_000, 8_192, true],
  ['claude-3-opus', 200_000, 4_096, true],
  ['gpt-5', 272_000, 128_000, true],
  ['GPT-5.1-Codex', 272_000, 128_000, true],
  ['gpt-6.1-sol', 272_000, 128_000, true],
  ['gpt-5.3-codex-spark', 100_000, 32_000, true],
  ['gpt-5-chat-latest', 128_000, 16_384, true],
  ['gpt-4.1-mini', 1_047_576, 32_768, true],
  ['gpt-4o-2024-08-06', 128_000, 16_384, true],
  ['gpt-4-turbo', 128_000, 4_096, true],
  ['gpt-4', 8_192, undefined, false],
  ['gpt-3.5-turbo', 16_385, 4_096, false],
  ['openai/gpt-oss-120b', 131_072, undefined, false],
  ['o3', 200_000, 100_000, true],
  ['o3-mini', 200_000, 100_000, false],
  ['gemini-2.5-pro', 1_048_576, 65_536, true],
  ['gemini-1.5-flash', 1_048_576, 8_192, true],
  ['gemini-3.8-flash', 1_048_576, 65_536, true],
  ['gemma-4-31b-it', 262_144, undefined, true],
  ['google/gemma-3-27b-it', 131_072, undefined, true],
  ['x-ai/grok-4', 256_000, undefined, true],
  ['deepseek-chat', 128_000, undefined, false],
  ['deepseek-vl2', 128_000, undefined, true],
  ['kimi-k2-0905', 256_000, undefined, false],
  ['kimi-k2.5', 256_000, undefined, true],
  ['glm-4.6', 200_000, undefined, false],
  ['glm-4.6v', 200_000, undefined, true],
  ['qwen3-coder', 131_072, undefined, false],
  ['qwen3-vl-8b', 131_072, undefined, true],
  ['llama-3.1-70b', 128_000, undefined, false],
  ['llama3.2-vision', 128_000, undefined, true],
  ['model-of-a-friend', 32_768, undefined, true],
  ['solo1x', 32_768, undefined, true],
])('%s', (model, windowTokens, outputTokensMax, seesImages) => {
  expect(capabilitiesOf({ model })).toEqual({
    ...{ windowTokens, seesImages },
    ...(outputTokensMax !== undefined && { outputTokensMax }),
  })
})

it("prefers the route's figures to the built-in ones", () => {
  const route = { model: 'gpt-4', windowTokens: 9_000, outputTokensMax: 500, images: true }
  expect(capabilitiesOf(route)).toEqual({
    ...{ windowTokens: 9_000, outputTokensMax: 500, seesImages: true },
  })
  expect(capabilitiesOf({ model: 'gpt-5', images: false }).seesImages).toBe(false)
})
