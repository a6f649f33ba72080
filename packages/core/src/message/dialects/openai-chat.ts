import { openaiChatFormat } from '../formats/openai-chat/openai-chat.ts'
import { checkOpenaiChat } from './check/check-openai-chat.ts'
import { type ProviderDialect, writeWith } from './provider-dialect.ts'

export const openaiChatDialect: ProviderDialect = {
  name: 'openai-chat',
  write: (messages) => writeWith(openaiChatFormat, 'messages', messages),
  check: checkOpenaiChat,
}
