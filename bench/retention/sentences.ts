import { compact } from '../../packages/core/src/compaction/compact.ts'
import { findHostBlocks } from '../../packages/core/src/compaction/own-words/host-blocks.ts'
import { ownWords } from '../../packages/core/src/compaction/own-words/pieces.ts'
import { writeEnvelope } from '../../packages/core/src/message/handoff/envelope.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { plainText, textOf } from '../../packages/core/src/message/text.ts'
import type { CorpusConversation } from '../../test/support/corpus.ts'

/** What became of the short sentences of one session's user. */
export interface KeptSentences {
  readonly name: string
  /** Whether a program put blocks of its own into the user's messages. */
  readonly hasHostBlocks: boolean
  readonly isCompacted: boolean
  readonly sentences: number
  readonly characters: number
  readonly lost: readonly string[]
}

/** Compacts a session to `targetTokens`; undefined if its user wrote no short sentence. */
export async function keptSentences(
  { name, conversation: { messages } }: CorpusConversation,
  targetTokens: number,
): Promise<KeptSentences | undefined> {
  const sentences = new Set(messages.flatMap(shortSentences))
  if (sentences.size === 0) return undefined
  const result = await compact(messages, { budget: { targetTokens } })
  const text = oneSpace(result.messages.map(read).join('\n'))
  return {
    name,
    hasHostBlocks: messages.some(
      (each) => each.role === 'user' && findHostBlocks(plainText(each.parts)).length > 0,
    ),
    isCompacted: result.outcome === 'compacted',
    sentences: sentences.size,
    characters: [...sentences].join('').length,
    lost: [...sentences].filter((sentence) => !text.includes(sentence)),
  }
}

const SENTENCE_CHARACTERS = 200
const WORDS_MIN = 3

/** Of at least three words: shorter ones, such as "ok", occur by chance. */
function shortSentences(message: Message): string[] {
  if (message.role !== 'user' || message.synthetic === true) return []
  return ownWords(plainText(message.parts))
    .split(/(?<=[.!?…])\s+|\n+/u)
    .map(oneSpace)
    .filter((sentence) => sentence.length < SENTENCE_CHARACTERS)
    .filter((sentence) => (sentence.match(/\p{L}{2,}/gu) ?? []).length >= WORDS_MIN)
}

function read(message: Message): string {
  return message.role === 'handoff'
    ? plainText(writeEnvelope(message.handoff).parts)
    : textOf(message)
}

function oneSpace(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
