/** Models that share a tokenizer closely enough to share one estimate. */
export const MODEL_FAMILIES = ['claude', 'openai', 'gemini', 'generic'] as const
export type ModelFamily = (typeof MODEL_FAMILIES)[number]

/**
 * The family of a model, by the parts of its name that providers keep through gateways, regions and
 * dated versions: `us.anthropic.claude-…`, `openrouter/openai/gpt-…`, `models/gemini-…`.
 *
 * The model's own name is checked before the path around it: `anthropic/…` says who serves it, and
 * a gateway path such as `openai/claude-…` only says which protocol is spoken.
 */
export function familyOf(model: string | undefined): ModelFamily {
  if (model === undefined) return 'generic'
  const name = model.toLowerCase()
  for (const [family, pattern] of NAMES) if (pattern.test(name)) return family
  return 'generic'
}

// A name part begins at the start or after a separator, so that `solo3` is not o3. `gpt-oss` has
// the vocabulary of its paid relatives.
const NAMES: readonly (readonly [ModelFamily, RegExp])[] = [
  ['claude', /claude/],
  ['openai', /(?:^|[^a-z0-9])(?:gpt|chatgpt|codex|davinci|o[1-9](?![a-z0-9.]))/],
  ['gemini', /(?:^|[^a-z0-9])(?:gemini|gemma|learnlm)/],
  ['claude', /anthropic/],
  ['gemini', /(?:^|[^a-z0-9])google\//],
  ['openai', /(?:^|[^a-z0-9])openai[/.]/],
]
