import { describe, expect, it } from 'vitest'
import { familyOf } from './family.ts'

describe('familyOf', () => {
  it('recognizes a model with prefixes of gateways and regions and with dated versions', () => {
    const families = {
      'claude-opus-4-5-20251101': 'claude',
      'anthropic/claude-sonnet-4.5': 'claude',
      'us.anthropic.claude-sonnet-4-20250514-v1:0': 'claude',
      'openrouter/anthropic/claude-haiku-4.5:beta': 'claude',
      'openai/claude-sonnet-4': 'claude',
      'vertex_ai/claude-opus-4@20250514': 'claude',
      'gpt-5.1-codex': 'openai',
      'openai/gpt-4o-mini': 'openai',
      'azure/my-gpt-4o': 'openai',
      'chatgpt-4o-latest': 'openai',
      'openrouter/openai/o3': 'openai',
      'o4-mini': 'openai',
      'codex-mini-latest': 'openai',
      'models/gemini-3-pro': 'gemini',
      'google/gemma-3-27b-it': 'gemini',
      'Gemini-2.5-Flash': 'gemini',
      'meta-llama/llama-4': 'generic',
      'qwen3-coder': 'generic',
      'solo3-large': 'generic',
      'phi-o1x': 'generic',
      '': 'generic',
    } as const
    const found = Object.fromEntries(Object.keys(families).map((name) => [name, familyOf(name)]))
    expect(found).toEqual(families)
  })

  it('takes an unknown model for a generic one', () => {
    expect(familyOf(undefined)).toBe('generic')
  })
})
