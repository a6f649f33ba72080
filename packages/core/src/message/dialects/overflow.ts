import type { ReportedError } from './provider-error.ts'

/**
 * Whether a provider says that the context is too large for its model. OpenAI and llama.cpp have a
 * code for it; the others are recognized by their words, under statuses from 400 to 500. Limits per
 * minute also mention too many tokens but are different: waiting helps, compaction does not.
 */
export interface ContextOverflow {
  readonly kind: 'overflow'
  /** The model's limit and the size of the request, if the provider reports them. */
  readonly limitTokens?: number
  readonly askedTokens?: number
}

export function findOverflow(complaint: ReportedError): ContextOverflow | undefined {
  const { status, codes, text } = complaint
  if (status === 401 || status === 403 || status === 429) return undefined
  if (PER_TIME.test(text) || codes.some((code) => code.startsWith('rate_limit'))) return undefined
  const isTold =
    codes.some((code) => CODES.includes(code)) ||
    TEXTS.some((words) => words.test(text)) ||
    // The request exceeds the server's size limit; a smaller one helps, whatever is counted.
    status === 413
  return isTold ? { kind: 'overflow', ...sizesOf(text) } : undefined
}

/** Anthropic and others report the overflow as the finish reason of an answer. */
export function isOverflowFinish(raw: string | undefined): boolean {
  return raw === 'model_context_window_exceeded'
}

const CODES = [
  'context_length_exceeded',
  'exceed_context_size_error',
  'request_too_large',
  'model_context_window_exceeded',
  'context_window_exceeded',
  'string_above_max_length',
]

const PER_TIME =
  /(?:tokens|requests|input tokens) per (?:second|minute|hour|day)|\((?:tpm|rpm|itpm)\)|\btpm\b/

// Each is the shortest phrase common to every version of the text seen; none can backtrack far.
const TEXTS: readonly RegExp[] = [
  /maximum (?:context|prompt|model|input) length/, // OpenAI, vLLM, OpenRouter, xAI, Mistral
  /exceeds? the (?:model's )?(?:maximum )?context (?:window|length|limit)/, // OpenAI Responses, Ollama
  /prompt (?:is )?too long/, // Anthropic, Ollama
  /exceeds? (?:the )?context limit/, // Anthropic, with max_tokens
  /input token count.{0,80}exceeds the maximum/, // Google
  /exceeds the available context size/, // llama.cpp
  /(?:longer|greater|larger) than (?:the )?(?:maximum )?(?:model|context) length/, // vLLM, LM Studio
  /keep the first .{0,40}context the overflows/, // LM Studio
  /context length of only/, // LM Studio
  /input is too long/, // Bedrock
  /input length.{0,40}exceeds/, // Cohere, Ollama
  /too many tokens/, // Cohere, SageMaker
  /reduce the length of (?:the|your) (?:messages|prompt|input)/, // OpenAI and its imitators
  /exceeded (?:the )?(?:model|max(?:imum)?) (?:token|context) (?:limit|length)/, // Kimi, Ollama
  /context window exceeds limit/, // MiniMax
  /range of input length should be/, // DashScope
  /inputs? tokens? \+ max_new_tokens/, // text-generation-inference
  /token limit exceeded/,
  /prompt contains too many tokens/,
]

function sizesOf(text: string): { limitTokens?: number; askedTokens?: number } {
  const limit = firstNumber(LIMITS, text)
  const asked = firstNumber(ASKED, text)
  return {
    ...(limit !== undefined && { limitTokens: limit }),
    ...(asked !== undefined && { askedTokens: asked }),
  }
}

const LIMITS: readonly RegExp[] = [
  /maximum (?:context|prompt|model|input) length (?:is|of) (\d{1,12})/,
  /> (\d{1,12}) maximum/,
  /context limit: [\d +]{1,40}> (\d{1,12})/,
  /exceeds the maximum number of tokens allowed \((\d{1,12})\)/,
  /available context size \((\d{1,12})/,
  /context length of only (\d{1,12})/,
  /"n_ctx":(\d{1,12})/,
]

const ASKED: readonly RegExp[] = [
  /resulted in (\d{1,12}) tokens/,
  /requested (\d{1,12}) tokens/,
  /too long: (\d{1,12}) tokens/,
  /input token count \((\d{1,12})\)/,
  /"n_prompt_tokens":(\d{1,12})/,
]

function firstNumber(patterns: readonly RegExp[], text: string): number | undefined {
  for (const pattern of patterns) {
    const digits = pattern.exec(text)?.[1]
    if (digits !== undefined) return Number(digits)
  }
  return undefined
}
