import type { Dialect } from '../dialect.ts'

/**
 * What providers refuse a request for, as they document it or answer it with status 400, each under
 * one name. `request-last` is ours for all of them: a context is sent to be answered.
 */
const RULES = {
  shape: 'Every item is an object of a kind and with the fields that the provider knows.',
  'no-messages': 'There is at least one message.',
  'first-role': 'The first message is from the user.',
  'role-alternation': 'Neighbours have different roles.',
  'system-position': 'System text is at the front, once.',
  'request-last': 'The last message is a request or the results of tools.',
  'empty-content': 'A message says something.',
  'blank-text': 'A text has more in it than white space.',
  'trailing-whitespace': 'The last reply does not end in white space.',
  'content-part': 'A message holds only the kinds of parts that its role may hold.',
  'call-id': 'A call has an id of the letters and the length that the provider takes.',
  'duplicate-call-id': 'No two calls have one id.',
  'tool-name': 'The name of a tool has the letters and the length that the provider takes.',
  'call-input': 'The arguments of a call have the type that the provider takes.',
  'unanswered-call': 'Every call has its result where the provider looks for it.',
  'orphan-result': 'Every result has its call where the provider looks for it.',
  'duplicate-result': 'A call has one result.',
  'results-first': 'Results come before everything else in their message.',
  'results-alone': 'A message with results holds nothing else.',
  'error-result': 'The result of a failed call is text, and not empty.',
  'reasoning-alone': 'A reasoning item is followed by what the model said or did then.',
  'duplicate-item-id': 'No two items have one id.',
  'thinking-unsigned': 'Thinking carries its signature.',
  'thinking-last': 'Thinking is not the last block of a reply.',
  'lone-surrogate': 'No text holds half a surrogate pair: it cannot be sent as UTF-8.',
} as const satisfies { readonly [name: string]: string }

export type DialectRule = keyof typeof RULES

/** The rule, in a sentence for people. */
export function explainRule(rule: DialectRule): string {
  return RULES[rule]
}

const EVERYWHERE = ['shape', 'no-messages', 'request-last', 'lone-surrogate'] as const
const CALLS = [
  'call-id',
  'duplicate-call-id',
  'tool-name',
  'call-input',
  'unanswered-call',
  'orphan-result',
  'duplicate-result',
] as const

/** The rules of each dialect, as `checkWire` holds a request against them. */
export const RULES_BY_DIALECT: { readonly [dialect in Dialect]: readonly DialectRule[] } = {
  'openai-chat': [...EVERYWHERE, ...CALLS, 'empty-content', 'content-part'],
  'openai-responses': [
    ...EVERYWHERE,
    ...CALLS,
    'empty-content',
    'content-part',
    'reasoning-alone',
    'duplicate-item-id',
  ],
  anthropic: [
    ...EVERYWHERE,
    ...CALLS,
    'first-role',
    'role-alternation',
    'system-position',
    'empty-content',
    'blank-text',
    'trailing-whitespace',
    'content-part',
    'results-first',
    'error-result',
    'thinking-unsigned',
    'thinking-last',
  ],
  gemini: [
    ...EVERYWHERE,
    'tool-name',
    'call-input',
    'unanswered-call',
    'orphan-result',
    'results-alone',
    'first-role',
    'role-alternation',
    'empty-content',
    'blank-text',
    'content-part',
  ],
  strict: [...EVERYWHERE, 'first-role', 'role-alternation', 'system-position', 'blank-text'],
}

/**
 * Which ids and tool names a provider takes. OpenAI's limits as its errors state them (ids of 40
 * for the older chat models, 64 for Responses); Anthropic states the letters only.
 */
export interface NameRule {
  readonly pattern: RegExp
  readonly lengthMax: number
}

// Gemini pairs by order and name, strict has no calls: neither sends an id.
export const CALL_ID_RULES = {
  'openai-chat': { pattern: /^[\x21-\x7e]+$/, lengthMax: 40 },
  'openai-responses': { pattern: /^[A-Za-z0-9_-]+$/, lengthMax: 64 },
  anthropic: { pattern: /^[A-Za-z0-9_-]+$/, lengthMax: Number.POSITIVE_INFINITY },
} as const satisfies { readonly [dialect in Dialect]?: NameRule }

export const TOOL_NAME_RULES = {
  'openai-chat': { pattern: /^[A-Za-z0-9_-]+$/, lengthMax: 64 },
  'openai-responses': { pattern: /^[A-Za-z0-9_-]+$/, lengthMax: 64 },
  anthropic: { pattern: /^[A-Za-z0-9_-]+$/, lengthMax: 128 },
  gemini: { pattern: /^[A-Za-z_][A-Za-z0-9_.:-]*$/, lengthMax: 64 },
} as const satisfies { readonly [dialect in Dialect]?: NameRule }

export function fits(name: string, rule: NameRule): boolean {
  return name.length <= rule.lengthMax && rule.pattern.test(name)
}
