/**
 * `npm run eval:overlong`: real conversations compacted to 5,000 tokens with summaries of 3,000 to
 * 4,300 tokens, whatever was asked for. Three writers: one that ignores the request to shorten, one
 * that fails on it, and one that obeys it. Every conversation must be accepted from all of them.
 */

import { clip, oneLine } from '../../packages/core/src/base/line.ts'
import { compact } from '../../packages/core/src/compaction/compact.ts'
import { SECTIONS } from '../../packages/core/src/compaction/digest.ts'
import type { SummaryWriter } from '../../packages/core/src/compaction/summary/summary-writer.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { repairPairs } from '../../packages/core/src/message/pairing.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import { messageCounter } from '../../packages/core/src/tokens/count.ts'
import { estimateText } from '../../packages/core/src/tokens/estimate.ts'
import { CORPUS_ABSENT, corpusConversations, corpusDir } from '../../test/support/corpus.ts'

const TARGET_TOKENS = 5_000
const SUMMARY_TOKENS = [3_000, 3_650, 4_300]
/** What is not clearly larger than the target is no case for it. */
const CONVERSATION_TOKENS_MIN = 20_000

const count = messageCounter('generic')
const countTokens = (text: string) => estimateText(text, 'generic')

type Writer = 'ignores' | 'fails' | 'obeys'

/** The conversation's own words under the usual headings, in as many tokens as wanted. */
function writeLong(messages: readonly Message[], tokens: number): string {
  const points = messages.map(
    (message, index) => `- #${index + 1} ${clip(oneLine(textOf(message)), 300)}`,
  )
  const sections = SECTIONS.map((title): string[] => [`## ${title}`])
  let left = tokens
  for (let index = 0; left > 0; index++) {
    const point = points[index % points.length] ?? ''
    sections[index % sections.length]?.push(point)
    left -= countTokens(point) + 1
  }
  return sections.flat().join('\n')
}

function writerOf(writer: Writer, messages: readonly Message[], tokens: number): SummaryWriter {
  return async ({ shortens, tokensMax }) => {
    if (shortens && writer === 'fails') throw new Error('The model is down.')
    const obeys = shortens && writer === 'obeys'
    return { text: writeLong(messages, obeys ? tokensMax : tokens), finish: 'stop' }
  }
}

if (corpusDir() === undefined) {
  console.log(CORPUS_ABSENT)
  process.exit(0)
}

const tallies = new Map<Writer, { of: number; accepted: number; cut: number }>()
const conversations = new Set<string>()
const others = new Map<string, number>()
for (const { name, conversation } of corpusConversations()) {
  const { messages } = repairPairs(conversation.messages)
  const tokens = messages.reduce((sum, message) => sum + count(message), 0)
  if (tokens < CONVERSATION_TOKENS_MIN) continue
  conversations.add(name)
  for (const writer of ['ignores', 'fails', 'obeys'] as const) {
    const tally = tallies.get(writer) ?? { of: 0, accepted: 0, cut: 0 }
    tallies.set(writer, tally)
    for (const summaryTokens of SUMMARY_TOKENS) {
      const result = await compact(messages, {
        family: 'generic',
        budget: { targetTokens: TARGET_TOKENS },
        summarize: writerOf(writer, messages, summaryTokens),
      })
      tally.of++
      if (result.outcome === 'compacted') tally.accepted++
      else {
        const why = `${name}: ${result.outcome} ${result.reason}: ${result.explanation}`
        others.set(why, (others.get(why) ?? 0) + 1)
      }
      if (result.warnings.some((warning) => warning.includes('was cut'))) tally.cut++
    }
  }
}

for (const [why, times] of others) console.log(`${why} (${times} times)`)
console.log(
  `${conversations.size} conversations to ${TARGET_TOKENS} tokens, summaries of ${SUMMARY_TOKENS.join(', ')}`,
)
for (const [writer, { of, accepted, cut }] of tallies) {
  console.log(`a writer that ${writer} to shorten: ${accepted} of ${of} accepted, ${cut} cut`)
}
