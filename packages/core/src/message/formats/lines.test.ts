import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  anthropicMessage,
  chatMessage,
  id,
  json,
  responsesItem,
  text,
  thing,
} from '../../../../../test/support/foreign.ts'
import { tries } from '../../../../../test/support/seeded-random.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import { claudeCodeFormat } from './claude-code/claude-code.ts'
import { codexFormat } from './codex/codex.ts'
import { hermesFormat } from './hermes/hermes.ts'
import { piFormat } from './pi/pi.ts'

const parent = fc.oneof(fc.constantFrom<JsonValue>(null, 'lost'), fc.nat(8).map(String))
const stamp = { timestamp: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z') }

/** Lines with ids 0, 1, 2…, whose parents are usually earlier lines. */
function numbered(line: fc.Arbitrary<JsonObject>, key: string): fc.Arbitrary<JsonValue> {
  return fc
    .array(line, { minLength: 1, maxLength: 8 })
    .map((lines) => lines.map((each, index) => ({ ...each, [key]: String(index) })))
}

const claudeLine = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        anthropicMessage.filter(({ role }) => role !== 'system'),
        thing(
          { parentUuid: parent, ...stamp },
          {
            isMeta: fc.boolean(),
            isSidechain: fc.boolean(),
            isCompactSummary: fc.boolean(),
            cwd: text,
          },
        ),
        fc.constantFrom<JsonObject>({}, { id: 'm1' }, { id: 'm2' }),
      )
      .map(([message, { isCompactSummary, ...line }, reply]) => ({
        ...line,
        // Summaries are text; results are never marked as one.
        ...(typeof message['content'] === 'string' && isCompactSummary && { isCompactSummary }),
        type: message['role'] as string,
        message: { ...message, ...(message['role'] === 'assistant' && reply) },
      })),
  },
  thing({
    type: fc.constant('system'),
    parentUuid: parent,
    subtype: fc.constantFrom('compact_boundary', 'x'),
  }),
)

const codexLine = fc.oneof(
  {
    weight: 6,
    arbitrary: thing({ type: fc.constant('response_item'), payload: responsesItem, ...stamp }),
  },
  thing({
    type: fc.constant('compacted'),
    payload: thing(
      { message: text },
      { replacement_history: fc.array(responsesItem, { maxLength: 3 }) },
    ),
  }),
  thing({ type: fc.constantFrom('event_msg', 'turn_context', 'other'), payload: json }),
)

const piPart = fc.oneof(
  thing({ type: fc.constant('text'), text }),
  thing({ type: fc.constant('thinking'), thinking: text }, { thinkingSignature: text }),
  thing({ type: fc.constant('toolCall'), id, name: text }, { arguments: json }),
  thing({ type: fc.constant('image'), data: text, mimeType: text }),
  json,
)
const piContent = { content: fc.oneof(text, fc.array<JsonValue>(piPart, { maxLength: 3 }), json) }
const piMessage = fc.oneof(
  thing({ role: fc.constantFrom('user', 'custom', 'system') }, piContent),
  thing(
    { role: fc.constant('assistant') },
    {
      ...piContent,
      api: fc.constantFrom('anthropic-messages', 'openai-responses', 'x'),
      model: text,
      usage: json,
    },
  ),
  thing(
    { role: fc.constant('toolResult'), toolCallId: id },
    {
      ...piContent,
      toolName: text,
      isError: fc.boolean(),
    },
  ),
  thing({ role: fc.constant('bashExecution'), command: text }, { output: text, exitCode: json }),
)
const piLine = fc.oneof(
  {
    weight: 6,
    arbitrary: thing({ type: fc.constant('message'), message: piMessage, parentId: parent }, stamp),
  },
  thing(
    { type: fc.constantFrom('compaction', 'branch_summary'), parentId: parent, summary: text },
    {
      firstKeptEntryId: id,
    },
  ),
  thing({ type: fc.constantFrom('custom_message', 'label'), parentId: parent }, piContent),
)
const session = { type: 'session', version: 3, id: 's', timestamp: 't' }
const meta = { type: 'session_meta', payload: { id: 'x', instructions: 'be brief' } }

const cases = [
  { codec: claudeCodeFormat, lines: numbered(claudeLine, 'uuid') },
  { codec: codexFormat, lines: fc.array(codexLine).map((lines): JsonValue => [meta, ...lines]) },
  {
    codec: piFormat,
    lines: numbered(piLine, 'id').map((lines): JsonValue => [session, ...(lines as JsonValue[])]),
  },
  { codec: hermesFormat, lines: fc.array(chatMessage).map((lines): JsonValue => lines) },
]

describe.each(cases)('$codec.name lines', ({ codec, lines }) => {
  it('give the same messages after they are written and read again', () => {
    fc.assert(
      fc.property(lines, (document) => {
        const read = codec.parse(document)
        const again = codec.parse(codec.format(read))
        expect(again.messages).toEqual(read.messages)
      }),
      { numRuns: tries(400) },
    )
  })
})
