import type { Message } from '../../packages/core/src/message/message.ts'
import { readConversation } from '../../packages/core/src/message/read.ts'
import { conversationTexts, corpusFiles } from '../../test/support/corpus.ts'
import { type Event, eventOf } from './sessions.ts'

/** Conversations of other agents, with other tools, cut at 60%: do the same rules hold there? */
export const OTHER_AGENTS = ['tau-bench', 'pi-mono'] as const

const MINIMA = { before: 10, after: 4, atoms: 3 }

export function otherEvents(agent: (typeof OTHER_AGENTS)[number]): Event[] {
  return corpusFiles(agent)
    .flatMap(conversationTexts)
    .flatMap(({ name, text, format }, index) => {
      const { messages } = readConversation(withoutCompactions(text), format)
      return cutOff(messages, name, index % 2 === 0 ? 'tune' : 'test')
    })
}

/** pi's codec gives what a model would see now; here the whole branch is wanted. */
function withoutCompactions(text: string): string {
  return text.replaceAll('{"type":"compaction"', '{"type":"label"')
}

function cutOff(messages: readonly Message[], name: string, half: Event['half']): Event[] {
  let cut = Math.floor(messages.length * 0.6)
  while (messages[cut]?.role === 'tool') cut++
  return eventOf({
    half,
    name,
    before: messages.slice(0, cut),
    after: messages.slice(cut),
    minima: MINIMA,
  })
}
