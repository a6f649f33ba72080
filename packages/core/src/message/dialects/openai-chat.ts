import { openaiChatFormat } from '../formats/openai-chat/openai-chat.ts'
import { sameFamilyOrigin } from '../formats/origin.ts'
import type { Part } from '../message.ts'
import { checkOpenaiChat } from './check/check-openai-chat.ts'
import { itemType, type ProviderDialect, writeWith } from './provider-dialect.ts'
import { CHAT_CALL_ID, OPENAI_NAME } from './rules.ts'

export const openaiChatDialect: ProviderDialect = {
  name: 'openai-chat',
  write: (messages) => writeWith(openaiChatFormat, 'messages', messages),
  check: checkOpenaiChat,
  accepts: {
    callId: CHAT_CALL_ID,
    toolName: OPENAI_NAME,
    // Servers that send reasoning in a separate field want it back there.
    reasoning: (part) => part.sealed === undefined && isKindred(part),
    fromUser: (part) =>
      isKindred(part) && ['image_url', 'input_audio', 'file'].includes(itemType(part)),
    blankText: true,
    textResults: true,
    joinsCalls: true,
  },
}

function isKindred(part: Pick<Part, 'origin'>): boolean {
  return sameFamilyOrigin(part, 'openai-chat') !== undefined
}
