import type { Handoff, HostBlock } from '../../message/handoff/handoff.ts'
import type { Message } from '../../message/message.ts'
import { plainText } from '../../message/text.ts'
import type { CountTokens } from '../counters.ts'
import type { NumberOf } from '../layout.ts'
import { clipText } from '../plan/clear.ts'
import { redact } from '../redact/redact.ts'
import { findHostBlocks } from './host-blocks.ts'

const BLOCKS_MAX = 8

/** The newest block of each kind, once, if it fits into the given space. */
export function keepHostBlocks(request: {
  readonly head: readonly Message[]
  readonly numberOf: NumberOf
  readonly earlier?: Handoff
  readonly tokensMax: number
  readonly countTokens: CountTokens
}): readonly HostBlock[] {
  const { head, numberOf, earlier, tokensMax, countTokens } = request
  const newest = new Map((earlier?.host ?? []).map((block) => [block.name, block]))
  for (const [index, message] of head.entries()) {
    if (message.role !== 'user') continue
    const text = plainText(message.parts)
    for (const { from, to, name } of findHostBlocks(text)) {
      newest.delete(name)
      newest.set(name, { name, text: text.slice(from, to), number: numberOf(index) })
    }
  }
  const blocks = [...newest.values()].slice(-BLOCKS_MAX)
  const each = Math.floor(tokensMax / Math.max(1, blocks.length)) - TITLE_TOKENS
  if (each < BLOCK_TOKENS_MIN) return []
  const note = (characters: number) => `[… ${characters} characters left out …]`
  return blocks.map((block) => ({
    ...block,
    text: clipText(redact(block.text), { tokensMax: each, countTokens, note }),
  }))
}

const TITLE_TOKENS = 12
const BLOCK_TOKENS_MIN = 30
