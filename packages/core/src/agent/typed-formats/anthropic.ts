/** `@throughline/core/anthropic`: the format with the types of your `@anthropic-ai/sdk`. */
import type {
  Message as AnthropicMessage,
  MessageParam,
  TextBlockParam,
  Tool,
} from '@anthropic-ai/sdk/resources/messages'
import { anthropicDialect } from '../../message/dialects/anthropic.ts'
import { anthropicFormat } from '../../message/formats/anthropic/anthropic.ts'
import { type Format, makeFormat } from './format.ts'

export interface Anthropic {
  readonly message: MessageParam
  readonly request: { system?: string | TextBlockParam[]; messages: MessageParam[]; tools?: Tool[] }
  readonly reply: AnthropicMessage | MessageParam
}

/** Messages of `@anthropic-ai/sdk`: `client.messages.create({ model, max_tokens, ...request })`. */
export const anthropic: Format<Anthropic> = /* @__PURE__ */ makeFormat<Anthropic>({
  codec: anthropicFormat,
  dialect: anthropicDialect,
  family: 'claude',
  request(messages, tools) {
    const document = anthropicFormat.format({
      ...{ format: 'anthropic', messages, notes: [] },
      wrapper: { key: 'messages', fields: {} },
    })
    return {
      ...(document as object),
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, schema }) => ({
          ...{ name, description, input_schema: schema },
        })),
      }),
    }
  },
  itemsOf(reply) {
    const { role, content } = reply as Partial<MessageParam>
    return role === undefined || content === undefined ? null : [{ role, content }]
  },
})
