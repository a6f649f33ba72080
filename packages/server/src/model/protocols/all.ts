import type { ProviderName } from '../providers/names.ts'
import { anthropicProtocol } from './anthropic.ts'
import { chatProtocol } from './chat.ts'
import { googleProtocol } from './google.ts'
import type { ModelProtocol } from './protocol.ts'
import { codexProtocol, responsesProtocol } from './responses.ts'

export const PROTOCOLS: { readonly [provider in ProviderName]: ModelProtocol } = {
  'openai-chat': chatProtocol,
  'openai-responses': responsesProtocol,
  codex: codexProtocol,
  anthropic: anthropicProtocol,
  google: googleProtocol,
  'openai-compatible': chatProtocol,
}
