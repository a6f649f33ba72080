import type { MessageParam } from '@anthropic-ai/sdk/resources/messages'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { z } from 'zod'

/**
 * What providers take, written from their documentation and held against the request types of their
 * own packages, apart from the rules in `src`: whatever those overlook is judged here once more.
 * Each judge throws for a request that the provider would refuse.
 */
type Wire = Readonly<Record<string, unknown>>

const said = z.string().regex(/\S/)
const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)

// Anthropic: https://platform.claude.com/docs/en/api/messages
const anthropicText = z.strictObject({ type: z.literal('text'), text: said })
const anthropicImage = z.strictObject({
  type: z.literal('image'),
  source: z.union([
    z.strictObject({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: z.string().min(1),
    }),
    z.strictObject({ type: z.literal('url'), url: z.url() }),
  ]),
})
const anthropicDocument = z.strictObject({
  type: z.literal('document'),
  source: z.union([
    z.strictObject({
      type: z.literal('base64'),
      media_type: z.literal('application/pdf'),
      data: z.string().min(1),
    }),
    z.strictObject({ type: z.literal('url'), url: z.url() }),
  ]),
  title: z.string().exactOptional(),
})
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  input: z.record(z.string(), z.unknown()),
})
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  content: z
    .union([z.string(), z.array(z.union([anthropicText, anthropicImage, anthropicDocument]))])
    .exactOptional(),
  is_error: z.boolean().exactOptional(),
})
const thinking = z.union([
  z.strictObject({
    type: z.literal('thinking'),
    thinking: z.string(),
    signature: z.string().min(1),
  }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) }),
])
const anthropicMessage: z.ZodType<MessageParam> = z.union([
  z.strictObject({
    role: z.literal('user'),
    content: z.union([
      said,
      z.array(z.union([anthropicText, anthropicImage, anthropicDocument, toolResult])).min(1),
    ]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([said, z.array(z.union([anthropicText, toolUse, thinking])).min(1)]),
  }),
])

/** In turn, beginning and ending with the user; results first, in the message behind their calls. */
export function judgeAnthropic(wire: Wire): void {
  z.union([said, z.array(anthropicText).min(1)])
    .optional()
    .parse(wire['system'])
  const messages = z.array(anthropicMessage).min(1).parse(wire['messages'])
  const known = new Set<string>()
  let open: string[] = []
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) throw new Error(`${index}: ${role}`)
    const blocks = typeof content === 'string' ? [] : content
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block] : []))
    if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result')) {
      throw new Error(`${index}: a result behind something else`)
    }
    sameIds(
      results.map((block) => block.tool_use_id),
      open,
    )
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
    for (const id of open) once(known, id)
  }
  if (messages.at(-1)?.role !== 'user') throw new Error('nobody asks for anything')
}

// OpenAI: https://platform.openai.com/docs/api-reference/chat/create
const chatText = z.strictObject({ type: z.literal('text'), text: z.string() })
const chatCall = z.strictObject({
  id: z.string().min(1).max(40),
  type: z.literal('function'),
  function: z.strictObject({ name, arguments: z.string() }),
})
const chatMessage: z.ZodType<ChatCompletionMessageParam> = z.union([
  z.strictObject({
    role: z.enum(['system', 'developer']),
    content: z.union([z.string().min(1), z.array(chatText).min(1)]),
  }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([
      z.string().min(1),
      z
        .array(
          z.union([
            chatText,
            z.strictObject({
              type: z.literal('image_url'),
              image_url: z.strictObject({ url: z.string().min(1) }),
            }),
            z.strictObject({
              type: z.literal('file'),
              file: z.strictObject({
                file_data: z.string().exactOptional(),
                file_id: z.string().exactOptional(),
                filename: z.string().exactOptional(),
              }),
            }),
          ]),
        )
        .min(1),
    ]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.null(), z.array(chatText).min(1)]).exactOptional(),
    tool_calls: z.array(chatCall).min(1).exactOptional(),
  }),
  z.strictObject({
    role: z.literal('tool'),
    tool_call_id: z.string().min(1),
    // Of no use to OpenAI, and some of those who imitate it ask for it.
    name: name.exactOptional(),
    content: z.union([z.string(), z.array(chatText).min(1)]),
  }),
])

/** Every call is answered by the tool messages directly after it, and by no others. */
export function judgeChat(wire: Wire): void {
  const messages = z.array(chatMessage).min(1).parse(wire['messages'])
  const known = new Set<string>()
  let open: string[] = []
  let results: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      results.push(message.tool_call_id)
      continue
    }
    sameIds(results, open)
    results = []
    open = message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : []
    for (const id of open) once(known, id)
    if (message.role === 'assistant' && open.length === 0 && !message.content) {
      throw new Error('an assistant message without content')
    }
  }
  sameIds(results, open)
}

// OpenAI: https://platform.openai.com/docs/api-reference/responses/create
const inputPart = z.union([
  z.strictObject({ type: z.literal('input_text'), text: z.string() }),
  z.looseObject({ type: z.literal('input_image') }),
  z.looseObject({ type: z.literal('input_file') }),
])
const responsesItem = z.union([
  z.strictObject({
    type: z.literal('message').exactOptional(),
    role: z.enum(['system', 'developer', 'user']),
    content: z.union([z.string().min(1), z.array(inputPart).min(1)]),
  }),
  z.strictObject({
    type: z.literal('message').exactOptional(),
    role: z.literal('assistant'),
    content: z.union([
      z.string().min(1),
      z.array(z.looseObject({ type: z.enum(['output_text', 'refusal']) })).min(1),
    ]),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    call_id: z.string().min(1).max(64),
    name,
    arguments: z.string(),
  }) satisfies z.ZodType<ResponseInputItem>,
  z.strictObject({
    type: z.literal('function_call_output'),
    call_id: z.string().min(1).max(64),
    output: z.union([z.string(), z.array(inputPart).min(1)]),
  }),
  z.looseObject({
    type: z.literal('reasoning'),
    id: z.string().min(1),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
  }),
])

/** Every call has one output behind it; reasoning is followed by what it led to. */
export function judgeResponses(wire: Wire): void {
  const items = z.array(responsesItem).min(1).parse(wire['input'])
  const called = new Set<string>()
  const answered = new Set<string>()
  for (const [index, item] of items.entries()) {
    if (!('type' in item)) continue
    if (item.type === 'function_call') once(called, String(item['call_id']))
    if (item.type === 'function_call_output') {
      const id = String(item['call_id'])
      if (!called.has(id)) throw new Error(`an output of nothing: ${id}`)
      once(answered, id)
    }
    const next = items[index + 1]
    const isReply = next !== undefined && (!('role' in next) || next['role'] === 'assistant')
    if (item.type === 'reasoning' && (!isReply || next?.type === 'function_call_output')) {
      throw new Error('reasoning without the item that it led to')
    }
  }
  sameIds([...answered], [...called])
}

// Google: https://ai.google.dev/api/caching#Content
const googleName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/)
const googlePart = z.union([
  z.strictObject({ text: said }),
  z.strictObject({
    inlineData: z.strictObject({ mimeType: z.string().min(1), data: z.string().min(1) }),
  }),
  z.strictObject({ fileData: z.looseObject({ fileUri: z.string().min(1) }) }),
  z.strictObject({
    functionCall: z.strictObject({ name: googleName, args: z.record(z.string(), z.unknown()) }),
    thoughtSignature: z.string().exactOptional(),
  }),
  z.strictObject({
    functionResponse: z.strictObject({
      name: googleName,
      response: z.record(z.string(), z.unknown()),
    }),
  }),
])
const googleContent = z.strictObject({
  role: z.enum(['user', 'model']),
  parts: z.array(googlePart).min(1),
})

/** In turn; a turn of calls is followed by one with as many responses, by the same names. */
export function judgeGoogle(wire: Wire): void {
  const contents = z.array(googleContent).min(1).parse(wire['contents'])
  let open: string[] = []
  for (const [index, { role, parts }] of contents.entries()) {
    const before = contents[index - 1]
    // Responses are a turn of their own, behind which the user may go on.
    const isResponse = before?.parts.some((part) => 'functionResponse' in part) === true
    if (role === (before?.role ?? 'model') && !(role === 'user' && isResponse)) {
      throw new Error(`${index}: ${role}`)
    }
    const responses = parts.flatMap((part) =>
      'functionResponse' in part ? [part.functionResponse.name] : [],
    )
    if (responses.join() !== open.join()) throw new Error(`${index}: ${responses} for ${open}`)
    open = parts.flatMap((part) => ('functionCall' in part ? [part.functionCall.name] : []))
    if (open.length > 0 && role === 'user') throw new Error(`${index}: a call of the user`)
  }
  if (open.length > 0) throw new Error('calls without responses')
}

// As chat templates of local servers have it: system text or none, then user and assistant in turn.
export function judgeStrict(wire: Wire): void {
  const roles = z
    .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: said }))
    .min(1)
    .parse(wire['messages'])
    .map(({ role }) => role)
  const turns = roles[0] === 'system' ? roles.slice(1) : roles
  const isInTurn = turns.every((role, index) => role === (index % 2 === 0 ? 'user' : 'assistant'))
  if (!isInTurn || turns.length === 0) throw new Error(roles.join())
}

function sameIds(found: readonly string[], wanted: readonly string[]): void {
  if (found.toSorted().join() === wanted.toSorted().join()) return
  throw new Error(`results of ${found.join()}, calls ${wanted.join()}`)
}

function once(known: Set<string>, id: string): void {
  if (known.has(id)) throw new Error(`${id} twice`)
  known.add(id)
}
