import { expect, it } from 'vitest'
import type { JsonValue } from '../../base/json.ts'
import { CODECS } from './file-formats.ts'
import { geminiFormat } from './gemini/gemini.ts'
import { langchainFormat } from './langchain/langchain.ts'

const codecs = new Map([...CODECS, geminiFormat, langchainFormat].map((each) => [each.name, each]))

/** Null: it is read. */
const REASONS: readonly (readonly [
  name: (typeof CODECS)[number]['name'] | 'gemini' | 'langchain',
  document: JsonValue,
  reason: string | null,
])[] = [
  ['openai-chat', {}, 'expected an array, or an object with an array "messages"'],
  ['openai-chat', 'x', 'expected an array, or an object with an array "messages"'],
  ['openai-chat', [7], 'item 0 is not an object'],
  ['openai-chat', [{ content: 'a' }], 'item 0 has no role'],
  [
    'openai-chat',
    {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'judge', content: 'a' },
      ],
    },
    'messages 1 has the role "judge", known are system, developer, user, assistant, tool, function',
  ],
  [
    'openai-chat',
    [{ role: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' }],
    'item 0 has the role "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, known are system, developer, user, assistant, tool, function',
  ],
  ['openai-chat', [{ role: 'user', parts: [] }], 'item 0 has "parts" where "content" is due'],
  [
    'openai-chat',
    [{ id: 'a', role: 'user', parts: [] }],
    'item 0 is a UI message; give what convertToModelMessages makes of it',
  ],
  ['openai-chat', [{ id: 'a', role: 'user', parts: [], content: 'a' }], null],
  ['openai-responses', { messages: [] }, 'expected an array, or an object with an array "input"'],
  ['openai-responses', { input: '' }, 'expected an array, or an object with an array "input"'],
  ['openai-responses', { input: [{ content: 'a' }] }, 'input 0 has no role'],
  [
    'openai-responses',
    [{ role: 'tool', content: 'a' }],
    'item 0 has the role "tool", known are user, assistant, system, developer',
  ],
  ['openai-responses', [{ type: 'of-next-year' }], null],
  [
    'anthropic',
    [{ role: 'tool', content: 'a' }],
    'item 0 has the role "tool", known are user, assistant, system',
  ],
  [
    'ai-sdk',
    [{ role: 'developer', content: 'a' }],
    'item 0 has the role "developer", known are system, user, assistant, tool',
  ],
  ['claude-code', [], 'no line has the type "user" or "assistant" with a message in it'],
  [
    'claude-code',
    [{ type: 'user' }],
    'no line has the type "user" or "assistant" with a message in it',
  ],
  ['claude-code', [{ leafUuid: 'a' }], null],
  ['codex', [], 'no line is a session_meta or response_item of a rollout'],
  ['codex', [{ type: 'response_item' }], 'no line is a session_meta or response_item of a rollout'],
  ['codex', [{ id: 'a', timestamp: 't' }, { type: 'message' }, { record_type: 'state' }], null],
  [
    'codex',
    [{ id: 'a', timestamp: 't' }, { type: 'hologram' }],
    'no line is a session_meta or response_item of a rollout',
  ],
  [
    'codex',
    [{ id: 'a', timestamp: 't', role: 'user' }],
    'no line is a session_meta or response_item of a rollout',
  ],
  ['pi', [], 'no line has the type "session" or "message"'],
  ['pi', [{ type: 'message' }], 'no line has the type "session" or "message"'],
  ['pi', [{ type: 'message', message: {} }], null],
  ['hermes', [{ role: 'user' }, 7], 'line 2 is not an object'],
  [
    'hermes',
    [{ role: 'judge' }],
    'line 1 has the role "judge", known are system, developer, user, assistant, tool, function, session_meta',
  ],
  ['hermes', [{ role: 'session_meta' }], null],
  ['gemini', { contents: [] }, 'expected an array'],
  [
    'gemini',
    [{ role: 'judge', parts: [] }],
    'item 0 has the role "judge", known are user and model',
  ],
  ['gemini', [{ role: 'user', parts: 'a' }], 'item 0 has no parts'],
  ['gemini', [{ role: 'user', content: 'a' }], 'item 0 has "content" where "parts" is due'],
  ['gemini', [{}], null],
  ['langchain', {}, 'expected an array'],
  ['langchain', [{ type: 'human' }], 'item 0 has no content'],
  [
    'langchain',
    [{ role: 'user', content: 'a' }],
    'item 0 has a role and is no message: make it with coerceMessageLikeToMessage',
  ],
  [
    'langchain',
    [{ type: 'judge', content: 'a' }],
    'item 0 has the type "judge", known are human, ai, system, tool, generic, function',
  ],
  [
    'langchain',
    [{}],
    'item 0 has the type null, known are human, ai, system, tool, generic, function',
  ],
]

it.each(REASONS)('%s: whether %j is refused, and why', (name, document, reason) => {
  expect(codecs.get(name)?.reject(document) ?? null).toBe(reason)
})
