import { describe, expect, it } from 'vitest'
import { costOf } from './prices.ts'

const anthropic = { model: 'claude-sonnet-4-5', baseUrl: 'https://api.anthropic.com/v1' }
const usage = { inputTokens: 1_000_000, outputTokens: 100_000 }

describe('costOf', () => {
  it('adds up by kind of token, with cached tokens separate', () => {
    expect(costOf(usage, anthropic)).toBe(3_000_000 + 1_500_000)
    const cached = { ...usage, cacheReadTokens: 600_000, cacheWriteTokens: 200_000 }
    expect(costOf(cached, anthropic)).toBe(600_000 + 180_000 + 750_000 + 1_500_000)
  })

  it.each([
    ['claude-opus-5-5', 6_000_000],
    ['claude-opus-5', 7_500_000],
    ['claude-sonnet-5', 3_000_000],
  ])('knows the list price of %s', (model, cost) => {
    expect(costOf(usage, { ...anthropic, model })).toBe(cost)
  })

  // As the makers print them: dollars for a million tokens in, out, and read from their cache.
  it.each([
    ['api.anthropic.com', 'claude-opus-4-1', 15, 75, 1.5],
    ['api.anthropic.com', 'claude-haiku-4-5', 1, 5, 0.1],
    ['api.openai.com', 'gpt-5', 1.25, 10, 0.125],
    ['api.openai.com', 'gpt-5-mini', 0.25, 2, 0.025],
    ['api.openai.com', 'gpt-5-nano', 0.05, 0.4, 0.005],
    ['api.openai.com', 'gpt-4.1', 2, 8, 0.5],
    ['api.openai.com', 'gpt-4.1-mini', 0.4, 1.6, 0.1],
    ['api.openai.com', 'gpt-4o', 2.5, 10, 1.25],
    ['api.openai.com', 'gpt-4o-mini', 0.15, 0.6, 0.075],
    ['generativelanguage.googleapis.com', 'gemini-2.5-pro', 1.25, 10, 0.125],
    ['api.anthropic.com', 'claude-opus-5-5', 4, 20, 0.2],
    ['api.anthropic.com', 'claude-opus-5', 5, 25, 0.5],
    ['api.anthropic.com', 'claude-opus-4-8', 5, 25, 0.5],
    ['api.anthropic.com', 'claude-opus-4-7', 5, 25, 0.5],
    ['api.anthropic.com', 'claude-opus-4-6', 5, 25, 0.5],
    ['api.anthropic.com', 'claude-opus-4-5', 5, 25, 0.5],
    ['api.anthropic.com', 'claude-opus-4', 15, 75, 1.5],
    ['api.anthropic.com', 'claude-fable-5-2', 8, 40, 0.2],
    ['api.anthropic.com', 'claude-mythos-5-2', 8, 40, 0.2],
    ['api.anthropic.com', 'claude-fable-5-1', 10, 50, 0.25],
    ['api.anthropic.com', 'claude-mythos-5-1', 10, 50, 0.25],
    ['api.anthropic.com', 'claude-fable-5', 10, 50, 1],
    ['api.anthropic.com', 'claude-mythos-5', 10, 50, 1],
    ['api.anthropic.com', 'claude-sonnet-5-5', 2, 10, 0.1],
    ['api.anthropic.com', 'claude-sonnet-5', 2, 10, 0.2],
    ['api.anthropic.com', 'claude-sonnet-4-6', 3, 15, 0.3],
    ['api.anthropic.com', 'claude-sonnet-4-5', 3, 15, 0.3],
    ['api.anthropic.com', 'claude-sonnet-4', 3, 15, 0.3],
    ['api.anthropic.com', 'claude-haiku-5-5', 0.1, 0.5, 0.01],
    ['api.openai.com', 'gpt-6.1-sol', 2, 10, 0.1],
    ['api.openai.com', 'gpt-6.1-terra', 1, 5, 0.05],
    ['api.openai.com', 'gpt-6-astra', 10, 50, 1],
    ['api.openai.com', 'gpt-6-sol', 2, 10, 0.2],
    ['api.openai.com', 'gpt-6-luna', 0.1, 0.5, 0.01],
    ['api.openai.com', 'gpt-5.6', 4, 20, 0.4],
    ['api.openai.com', 'gpt-5.6-sol', 4, 20, 0.4],
    ['api.openai.com', 'gpt-5.6-terra', 2, 12, 0.2],
    ['api.openai.com', 'gpt-5.6-luna', 0.2, 1.2, 0.02],
    ['api.openai.com', 'gpt-5.5', 5, 30, 0.5],
    ['api.openai.com', 'gpt-5.4', 2.5, 15, 0.25],
    ['api.openai.com', 'gpt-5.4-mini', 0.75, 4.5, 0.075],
    ['api.openai.com', 'gpt-5.4-nano', 0.2, 1.25, 0.02],
    ['api.openai.com', 'gpt-5.3-codex', 1.75, 14, 0.175],
    ['api.openai.com', 'gpt-5.2-codex', 1.75, 14, 0.175],
    ['api.openai.com', 'gpt-5.2', 1.75, 14, 0.175],
    ['api.openai.com', 'gpt-5.1-codex', 1.25, 10, 0.125],
    ['api.openai.com', 'gpt-5-codex', 1.25, 10, 0.125],
    ['api.openai.com', 'gpt-5.1', 1.25, 10, 0.125],
    ['generativelanguage.googleapis.com', 'gemini-3.1-pro-preview', 2, 12, 0.2],
    ['generativelanguage.googleapis.com', 'gemini-3.8-flash', 0.75, 3.75, 0.075],
    ['generativelanguage.googleapis.com', 'gemini-3.7-flash', 0.75, 3.75, 0.075],
    ['generativelanguage.googleapis.com', 'gemini-3.6-flash', 0.75, 3.75, 0.075],
    ['generativelanguage.googleapis.com', 'gemini-3.5-flash', 1.5, 9, 0.15],
    ['generativelanguage.googleapis.com', 'gemini-3.5-flash-lite', 0.3, 2.5, 0.03],
    ['generativelanguage.googleapis.com', 'gemini-3.1-flash-lite', 0.25, 1.5, 0.025],
    ['generativelanguage.googleapis.com', 'gemini-3-flash-preview', 0.5, 3, 0.05],
    ['generativelanguage.googleapis.com', 'gemini-2.5-flash', 0.3, 2.5, 0.03],
    ['generativelanguage.googleapis.com', 'gemini-2.5-flash-lite', 0.1, 0.4, 0.01],
  ])('knows at %s the list price of %s', (host, model, input, output, cached) => {
    const costOfOne = (counts: object) =>
      costOf(
        { inputTokens: 0, outputTokens: 0, ...counts },
        { model, baseUrl: `https://${host}/v1` },
      )
    expect(costOfOne({ inputTokens: 1_000 })).toBe(input * 1_000)
    expect(costOfOne({ outputTokens: 1_000 })).toBe(output * 1_000)
    expect(costOfOne({ inputTokens: 1_000, cacheReadTokens: 1_000 })).toBe(cached * 1_000)
  })

  // Dollars for a million tokens written to the cache; the others have no such price.
  it.each([
    ['api.anthropic.com', 'claude-opus-5-5', 5],
    ['api.anthropic.com', 'claude-opus-5', 6.25],
    ['api.anthropic.com', 'claude-opus-4-1', 18.75],
    ['api.anthropic.com', 'claude-fable-5-2', 10],
    ['api.anthropic.com', 'claude-fable-5-1', 12.5],
    ['api.anthropic.com', 'claude-fable-5', 12.5],
    ['api.anthropic.com', 'claude-sonnet-5-5', 2.5],
    ['api.anthropic.com', 'claude-sonnet-5', 2.5],
    ['api.anthropic.com', 'claude-sonnet-4-5', 3.75],
    ['api.anthropic.com', 'claude-haiku-5-5', 0.125],
    ['api.anthropic.com', 'claude-haiku-4-5', 1.25],
    ['api.openai.com', 'gpt-6.1-sol', null],
    ['api.openai.com', 'gpt-6.1-terra', 1.25],
    ['api.openai.com', 'gpt-6-astra', 12.5],
    ['api.openai.com', 'gpt-6-sol', 2.5],
    ['api.openai.com', 'gpt-6-luna', 0.125],
    ['api.openai.com', 'gpt-5.6', 5],
    ['api.openai.com', 'gpt-5.6-terra', 2.5],
    ['api.openai.com', 'gpt-5.6-luna', 0.25],
    ['api.openai.com', 'gpt-5', null],
    ['generativelanguage.googleapis.com', 'gemini-3.6-flash', null],
  ])('knows at %s what %s takes for a write to its cache', (host, model, price) => {
    const usage = { inputTokens: 1_000, outputTokens: 0, cacheWriteTokens: 1_000 }
    const cost = costOf(usage, { model, baseUrl: `https://${host}/v1` })
    expect(cost).toBe(price === null ? null : price * 1_000)
  })

  it.each([
    ['api.openai.com', 'gpt-6.1-sol', 272_000, 2, 1.5],
    ['api.openai.com', 'gpt-6.1-terra', 272_000, 2, 1.5],
    ['api.openai.com', 'gpt-6-astra', 272_000, 2, 1.5],
    ['api.openai.com', 'gpt-6-luna', 272_000, 2, 1.5],
    ['api.openai.com', 'gpt-5.6', 272_000, 2, 1.5],
    ['api.openai.com', 'gpt-5.6-terra', 272_000, 2, 1.5],
    ['api.openai.com', 'gpt-5.6-luna', 272_000, 2, 1.5],
    ['api.openai.com', 'gpt-5.5', 272_000, 2, 1.5],
    ['api.openai.com', 'gpt-5.4', 272_000, 2, 1.5],
    ['api.openai.com', 'gpt-5.4-mini', 272_000, 1, 1],
    ['api.openai.com', 'gpt-5', 272_000, 1, 1],
    ['api.anthropic.com', 'claude-haiku-5-5', 100_000, 5, 5],
    ['api.anthropic.com', 'claude-haiku-4-5', 100_000, 1, 1],
    ['api.anthropic.com', 'claude-opus-5', 272_000, 1, 1],
    ['generativelanguage.googleapis.com', 'gemini-3.1-pro-preview', 200_000, 2, 1.5],
    ['generativelanguage.googleapis.com', 'gemini-2.5-pro', 200_000, 2, 1.5],
    ['generativelanguage.googleapis.com', 'gemini-3.6-flash', 200_000, 1, 1],
  ])(
    'at %s %s above %i tokens costs %f times, its output %f times',
    (host, model, over, input, output) => {
      const route = { model, baseUrl: `https://${host}/v1` }
      const cost = (inputTokens: number, outputTokens: number) =>
        costOf({ inputTokens, outputTokens }, route) ?? Number.NaN
      const most = cost(over, 0)
      expect(cost(over + 1, 0) / most).toBeCloseTo(input, 3)
      const outputOfLong = cost(over + 1, 100_000) - cost(over + 1, 0)
      expect(outputOfLong / (cost(over, 100_000) - most)).toBeCloseTo(output, 3)
    },
  )

  it('counts what its provider reports, and nothing for tokens that were not used', () => {
    expect(costOf({ ...usage, cost: 17 }, anthropic)).toBe(17)
    const prices = { own: { input: 1, output: 2 } }
    const own = { model: 'own', baseUrl: 'http://127.0.0.1/v1' }
    const used = { inputTokens: 3, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
    expect(costOf(used, own, prices)).toBe(3)
    expect(costOf({ ...used, cacheWriteTokens: 1 }, own, prices)).toBeNull()
    // A provider that counts its cache beside the input makes no negative price.
    const beside = { inputTokens: 1, outputTokens: 0, cacheReadTokens: 10 }
    expect(costOf(beside, own, { own: { input: 5, output: 1, cacheRead: 1 } })).toBe(10)
  })

  it('charges more for the whole of a long request where the maker does', () => {
    const short = { inputTokens: 272_000, outputTokens: 1_000, cacheReadTokens: 72_000 }
    const gpt = { model: 'gpt-6-sol', baseUrl: 'https://api.openai.com/v1' }
    expect(costOf(short, gpt)).toBe(400_000 + 10_000 + 14_400)
    expect(costOf({ ...short, inputTokens: 272_001 }, gpt)).toBe(800_004 + 15_000 + 28_800)
    expect(costOf(usage, { ...anthropic, model: 'claude-haiku-5-5' })).toBe(500_000 + 250_000)
    const google = 'https://generativelanguage.googleapis.com/v1beta'
    const gemini = { model: 'gemini-2.5-pro', baseUrl: google }
    expect(costOf(usage, gemini)).toBe(2_500_000 + 1_500_000)
  })

  it('treats a dated version as the same model', () => {
    expect(costOf(usage, { ...anthropic, model: 'claude-sonnet-4-5-20250929' })).toBe(4_500_000)
  })

  it.each([
    ['a model that nobody listed', { ...anthropic, model: 'claude-sonnet-9' }],
    ['a gateway with prices of its own', { ...anthropic, baseUrl: 'https://gateway.example/v1' }],
    ['a name that only begins like a listed one', { ...anthropic, model: 'claude-sonnet-4-5-max' }],
    ['an address that is none', { ...anthropic, baseUrl: 'nonsense' }],
    ['a name of every object', { ...anthropic, model: 'constructor' }],
  ])('%s has no price, and none is guessed', (_, route) => {
    expect(costOf(usage, route)).toBeNull()
  })

  it('prefers the operator’s prices to the list, with no price for a kind they omit', () => {
    const prices = { 'claude-sonnet-4-5': { input: 1, output: 2 } }
    expect(costOf(usage, anthropic, prices)).toBe(1_200_000)
    expect(costOf({ ...usage, cacheReadTokens: 1 }, anthropic, prices)).toBeNull()
  })
})
