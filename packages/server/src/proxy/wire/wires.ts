import { anthropicWire } from './anthropic.ts'
import { chatWire } from './chat.ts'
import { responsesWire } from './responses.ts'
import type { ClientWire } from './wire.ts'

/** Counts the tokens of a request without a model call. */
export const COUNT_PATH = '/messages/count_tokens'

const WIRES: readonly { readonly end: string; readonly name: string; readonly wire: ClientWire }[] =
  [
    { end: '/messages', name: 'anthropic', wire: anthropicWire },
    { end: COUNT_PATH, name: 'anthropic', wire: anthropicWire },
    { end: '/responses', name: 'responses', wire: responsesWire },
    { end: '/responses/compact', name: 'responses', wire: responsesWire },
    { end: '/chat/completions', name: 'chat', wire: chatWire },
  ]

/** The provider API of a path; undefined for a path that carries no conversation. */
export function findWire(path: string) {
  return WIRES.find(({ end }) => path.endsWith(end))
}
