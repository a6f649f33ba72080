import fc from 'fast-check'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import type { Handoff } from '../../packages/core/src/message/handoff/handoff.ts'
import type {
  AssistantMessage,
  AssistantPart,
  BlobSource,
  FilePart,
  HandoffMessage,
  ImagePart,
  Message,
  OpaquePart,
  Provider,
  ReasoningPart,
  ResultPart,
  SystemMessage,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
  UserPart,
} from '../../packages/core/src/message/message.ts'

/**
 * Arbitrary conversations for property tests. `conversation()` is what a careful agent records:
 * every call answered directly behind it, ids unique, nothing empty. `messageList()` is what files
 * hold after crashes, cuts and other people's converters: anything the types allow.
 */

const words = fc
  .array(
    fc.constantFrom('list', 'the', 'failing', 'tests', 'in', 'src/a.ts', 'ζ', '日本語', '👍', '42'),
    { minLength: 1, maxLength: 8 },
  )
  .map((list) => list.join(' '))

/** Text with everything that has ever broken a request: whitespace, NUL, lone surrogates. */
const hostileText = fc.oneof(
  { weight: 4, arbitrary: words },
  { weight: 2, arbitrary: fc.constantFrom('', ' ', '\n\n', '\t', '\ufeff', '\u0000') },
  { weight: 2, arbitrary: fc.constantFrom('\ud800', 'a\udc00b', '\udfff ', 'ends with blanks \n') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
)

const toolName = fc.constantFrom('bash', 'read_file', 'mcp__search-web')
const hostileToolName = fc.oneof(
  toolName,
  fc.constantFrom('', 'a.b/c', 'x'.repeat(200), 'ünïcode', '9lives', '\ud800'),
)

/** Few ids, so that orphans, duplicates and pairs out of order all occur often. */
const hostileId = fc.constantFrom(
  'a',
  'b',
  'c',
  '',
  ' ',
  'a_2',
  'a.b:0',
  'a|b',
  '\ud800',
  'é',
  'y'.repeat(90),
)

const json: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.record({ path: words, count: fc.nat(9) }),
  fc.constant({}),
)
const hostileJson: fc.Arbitrary<JsonValue> = fc.oneof(
  json,
  fc.constantFrom<JsonValue>(null, true, 7, '', 'text', [], [1, 'x'], { '': null }),
  fc.record({ ['\udc00']: fc.constant<JsonValue>('\ud800') }),
)

const provider = fc.constantFrom<Provider>('openai', 'anthropic', 'google', 'other')

const blob = fc.constantFrom<BlobSource>(
  { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
  { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' },
  { kind: 'base64', mediaType: '', data: '' },
  { kind: 'url', url: 'https://example.org/a.png' },
  { kind: 'id', id: 'file-1' },
)

const textOf = (text: fc.Arbitrary<string>): fc.Arbitrary<TextPart> =>
  fc.record({ type: fc.constant('text'), text })

const image: fc.Arbitrary<ImagePart> = fc.record({ type: fc.constant('image'), source: blob })

const file: fc.Arbitrary<FilePart> = fc.record(
  { type: fc.constant('file'), source: blob, name: hostileText },
  { requiredKeys: ['type', 'source'] },
)

/** A provider's item as received; the hostile ones imitate items that our model reads. */
const opaque: fc.Arbitrary<OpaquePart> = fc.record({
  type: fc.constant('opaque'),
  provider,
  value: fc.oneof(
    hostileJson,
    fc.constantFrom<JsonValue>(
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'xyz' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      { type: 'tool_result', tool_use_id: 'nobody', content: 'x' },
      { type: 'tool_use', id: 'a', name: 'bash', input: {} },
      { type: 'function_call_output', call_id: 'nobody', output: 'x' },
      { type: 'text', text: '' },
      { type: 'message', role: 'user', content: [] },
      { type: 'reasoning', id: 'rs_9', summary: [] },
      { role: 'tool', tool_call_id: 'nobody', content: 'x' },
      { functionResponse: { name: 'bash', response: {} } },
      { executableCode: { language: 'PYTHON', code: '1' } },
    ),
  ),
})

const sealedOpenai = fc.nat(99).map((n): ReasoningPart['sealed'] => ({
  provider: 'openai',
  value: { type: 'reasoning', id: `rs_${n}`, summary: [], encrypted_content: 'gAAA' },
}))
const sealedAnthropic = fc.nat(99).map((n): ReasoningPart['sealed'] => ({
  provider: 'anthropic',
  value: { type: 'thinking', thinking: `thought ${n}`, signature: `sig${n}` },
}))

const reasoning: fc.Arbitrary<ReasoningPart> = fc.oneof(
  fc.record({ type: fc.constant('reasoning'), text: words }),
  fc.record({
    type: fc.constant('reasoning'),
    text: words,
    sealed: fc
      .oneof(sealedOpenai, sealedAnthropic)
      .map((sealed) => sealed as NonNullable<typeof sealed>),
  }),
)

const hostileReasoning: fc.Arbitrary<ReasoningPart> = fc.oneof(
  reasoning,
  fc.record({ type: fc.constant('reasoning'), text: hostileText }),
  fc.record({
    type: fc.constant('reasoning'),
    text: hostileText,
    sealed: fc.record({ provider, value: hostileJson }),
  }),
)

const callOf = (
  id: fc.Arbitrary<string>,
  name: fc.Arbitrary<string>,
  input: fc.Arbitrary<JsonValue>,
): fc.Arbitrary<ToolCallPart> => fc.record({ type: fc.constant('tool-call'), id, name, input })

const hostileCall = fc.oneof(
  callOf(hostileId, hostileToolName, hostileJson),
  fc.record({
    type: fc.constant('tool-call' as const),
    id: hostileId,
    name: hostileToolName,
    input: hostileJson,
    inputText: fc.constantFrom('{"half": ', '{}', '', '{ "spaced" : 1 }', '\ud800'),
  }),
)

const hostileOutput: fc.Arbitrary<readonly ResultPart[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: textOf(hostileText) }, image, file, opaque),
  { maxLength: 3 },
)

const hostileResult: fc.Arbitrary<ToolResultPart> = fc.record(
  {
    type: fc.constant('tool-result'),
    callId: hostileId,
    name: hostileToolName,
    output: hostileOutput,
    isError: fc.constant(true as const),
    cleared: fc.constant(true as const),
  },
  { requiredKeys: ['type', 'callId', 'output'] },
)

function userMessage(parts: fc.Arbitrary<readonly UserPart[]>): fc.Arbitrary<UserMessage> {
  return fc.record(
    { role: fc.constant('user'), parts, synthetic: fc.constant(true as const) },
    { requiredKeys: ['role', 'parts'] },
  )
}

const plainUser: fc.Arbitrary<UserMessage> = fc
  .oneof(
    { weight: 4, arbitrary: textOf(words).map((part) => [part]) },
    { weight: 1, arbitrary: fc.tuple(textOf(words), image) },
  )
  .map((parts) => ({ role: 'user', parts }))

function handoffOf(
  text: fc.Arbitrary<string>,
  user: fc.Arbitrary<UserMessage>,
): fc.Arbitrary<HandoffMessage> {
  const handoff: fc.Arbitrary<Handoff> = fc.record({
    version: fc.constant(1 as const),
    by: fc.constantFrom('model' as const, 'digest' as const, 'given' as const),
    covers: fc.integer({ min: 1, max: 500 }),
    kept: fc.nat(50),
    compactions: fc.integer({ min: 1, max: 9 }),
    preserved: fc.array(
      fc.record({
        message: user,
        number: fc.integer({ min: 1, max: 500 }),
        state: fc.constantFrom('answered' as const, 'open' as const),
      }),
      { maxLength: 2 },
    ),
    tasks: fc.array(
      fc.record({ text, status: fc.constantFrom('pending' as const, 'running' as const) }),
      { maxLength: 2 },
    ),
    files: fc.array(
      fc.record({
        path: text,
        access: fc.constantFrom('read' as const, 'changed' as const),
        number: fc.integer({ min: 1, max: 500 }),
      }),
      { maxLength: 2 },
    ),
    ledger: fc.array(
      fc.record({
        kind: fc.constantFrom('action' as const, 'path' as const, 'error' as const),
        text,
        count: fc.integer({ min: 1, max: 9 }),
        number: fc.integer({ min: 1, max: 500 }),
      }),
      { maxLength: 2 },
    ),
    summary: text,
  })
  return handoff.map((value) => ({ role: 'handoff', handoff: value }))
}

/** One message with anything in it that the types allow. */
export function message(): fc.Arbitrary<Message> {
  const system: fc.Arbitrary<SystemMessage> = fc.record({
    role: fc.constant('system'),
    parts: fc.array(fc.oneof({ weight: 4, arbitrary: textOf(hostileText) }, opaque), {
      maxLength: 2,
    }),
  })
  const user = userMessage(
    fc.array(fc.oneof({ weight: 4, arbitrary: textOf(hostileText) }, image, file, opaque), {
      maxLength: 3,
    }),
  )
  const assistant: fc.Arbitrary<AssistantMessage> = fc.record({
    role: fc.constant('assistant'),
    parts: fc.array(
      fc.oneof<fc.MaybeWeightedArbitrary<AssistantPart>[]>(
        { weight: 3, arbitrary: textOf(hostileText) },
        { weight: 4, arbitrary: hostileCall },
        { weight: 2, arbitrary: hostileReasoning },
        image,
        file,
        opaque,
      ),
      { maxLength: 4 },
    ),
  })
  const tool: fc.Arbitrary<ToolMessage> = fc.record({
    role: fc.constant('tool'),
    parts: fc.array(hostileResult, { maxLength: 3 }),
  })
  return fc.oneof<fc.MaybeWeightedArbitrary<Message>[]>(
    { weight: 1, arbitrary: system },
    { weight: 3, arbitrary: user },
    { weight: 4, arbitrary: assistant },
    { weight: 4, arbitrary: tool },
    { weight: 1, arbitrary: handoffOf(hostileText, user) },
  )
}

/** Any list of messages: orphans, duplicates, empty parts, neighbours of one role, handoffs midway. */
export function messageList(
  options: { maxLength?: number } = {},
): fc.Arbitrary<readonly Message[]> {
  return fc.array(message(), { maxLength: options.maxLength ?? 12 })
}

interface Step {
  readonly reply: AssistantMessage
  readonly results?: ToolMessage
}

/** A step before its calls have ids: they are numbered when the conversation is assembled. */
const step: fc.Arbitrary<Step> = fc
  .record({
    thought: fc.option(reasoning, { nil: undefined }),
    text: fc.option(textOf(words), { nil: undefined }),
    calls: fc.array(
      fc.record({
        call: callOf(fc.constant(''), toolName, json),
        output: words,
        failed: fc.boolean(),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ thought, text, calls }) => ({
    reply: {
      role: 'assistant',
      parts: [
        ...(thought === undefined ? [] : [thought]),
        ...(text === undefined ? [] : [text]),
        ...calls.map(({ call }) => call),
      ],
    },
    results: {
      role: 'tool',
      parts: calls.map(({ call, output, failed }) => ({
        type: 'tool-result',
        callId: '',
        name: call.name,
        output: [{ type: 'text', text: output }],
        ...(failed ? { isError: true as const } : {}),
      })),
    },
  }))

const closing: fc.Arbitrary<AssistantMessage> = textOf(words).map((part) => ({
  role: 'assistant',
  parts: [part],
}))

const turn = fc.record({ ask: plainUser, steps: fc.array(step, { maxLength: 4 }), closing })

/**
 * A conversation as a careful agent records it, valid for every dialect. It ends with a request, a
 * step's results or a reply, whichever `endsWith` names (any by default).
 */
export function conversation(
  options: { turnsMax?: number; endsWith?: 'request' | 'results' | 'reply' } = {},
): fc.Arbitrary<readonly Message[]> {
  const system: fc.Arbitrary<SystemMessage> = textOf(words).map((part) => ({
    role: 'system',
    parts: [part],
  }))
  return fc
    .record({
      system: fc.option(system, { nil: undefined }),
      handoff: fc.option(handoffOf(words, plainUser), { nil: undefined, freq: 4 }),
      turns: fc.array(turn, { maxLength: options.turnsMax ?? 4 }),
      request: plainUser,
      lastStep: step,
      reply: closing,
      ending: options.endsWith
        ? fc.constant(options.endsWith)
        : fc.constantFrom('request' as const, 'results' as const, 'reply' as const),
    })
    .map(({ system, handoff, turns, request, lastStep, reply, ending }) =>
      numbered([
        ...(system ? [system] : []),
        ...(handoff ? [handoff] : []),
        ...turns.flatMap(({ ask, steps, closing }) => [
          ask,
          ...steps.flatMap(stepMessages),
          closing,
        ]),
        request,
        ...(ending === 'results' ? stepMessages(lastStep) : []),
        ...(ending === 'reply' ? [reply] : []),
      ]),
    )
}

function stepMessages({ reply, results }: Step): readonly Message[] {
  return results ? [reply, results] : [reply]
}

/** Gives every call its own id, and each result the id of the call in the same position. */
function numbered(messages: readonly Message[]): readonly Message[] {
  let calls = 0
  let results = 0
  return messages.map((message): Message => {
    if (message.role === 'assistant') {
      return {
        ...message,
        parts: message.parts.map((part) =>
          part.type === 'tool-call' ? { ...part, id: `call_${++calls}` } : part,
        ),
      }
    }
    if (message.role === 'tool') {
      return {
        ...message,
        parts: message.parts.map((part) => ({ ...part, callId: `call_${++results}` })),
      }
    }
    return message
  })
}
