import type { Dialect } from '../dialect.ts'

/**
 * Reasons for which providers refuse a request, from their documentation and their 400 responses,
 * each under one name. `request-last` is our own rule for all: a request must need an answer.
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

/** The rules that `checkWire` applies for each dialect. */
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
 * The ids and tool names that a provider accepts. OpenAI's limits come from its errors (40
 * characters for ids in older chat models, 64 in Responses); Anthropic documents only the
 * characters.
 */
export interface NameRule {
  readonly pattern: RegExp
  readonly lengthMax: number
}

// Single values, so that a program with one dialect bundles no other's.
export const CHAT_CALL_ID: NameRule = { pattern: /^[\x21-\x7e]+$/, lengthMax: 40 }
export const OPENAI_NAME: NameRule = { pattern: /^[A-Za-z0-9_-]+$/, lengthMax: 64 }
export const ANTHROPIC_CALL_ID: NameRule = {
  pattern: /^[A-Za-z0-9_-]+$/,
  lengthMax: Number.POSITIVE_INFINITY,
}
export const ANTHROPIC_NAME: NameRule = { pattern: /^[A-Za-z0-9_-]+$/, lengthMax: 128 }
export const GEMINI_NAME: NameRule = { pattern: /^[A-Za-z_][A-Za-z0-9_.:-]*$/, lengthMax: 64 }

export function fits(name: string, rule: NameRule): boolean {
  return name.length <= rule.lengthMax && rule.pattern.test(name)
}
