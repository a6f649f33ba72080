/**
 * `npm run eval:validity`: every conversation of the corpus, compacted at every place it can be cut,
 * rendered for every provider and held against that provider's rules. The control is the habit of
 * keeping the last messages as they are, which the same checker must refuse about half of the time.
 */

import { DIALECTS } from '../../packages/core/src/message/dialect.ts'
import { checkWire } from '../../packages/core/src/message/dialects/check/check.ts'
import { render } from '../../packages/core/src/message/dialects/render.ts'
import { openaiChatFormat } from '../../packages/core/src/message/formats/openai-chat/openai-chat.ts'
import type { Message } from '../../packages/core/src/message/message.ts'
import { repairPairs } from '../../packages/core/src/message/pairing.ts'
import { CORPUS_ABSENT, corpusConversations, corpusDir } from '../../test/support/corpus.ts'
import { compactAt } from '../../test/support/cuts.ts'

if (corpusDir() === undefined) {
  console.log(CORPUS_ABSENT)
  process.exit(0)
}

let conversations = 0
let cuts = 0
let checks = 0
let violations = 0
const naive = { cuts: 0, broken: 0 }
const start = performance.now()
for (const { name, conversation } of corpusConversations()) {
  conversations++
  const { messages } = repairPairs(conversation.messages)
  for (let index = 1; index <= messages.length; index++) {
    const after = compactAt(messages, index)
    if (after === undefined) continue
    cuts++
    for (const dialect of DIALECTS) {
      checks++
      const [found] = checkWire(dialect, render(after, dialect))
      if (found === undefined) continue
      violations++
      if (violations <= 20)
        console.log(`${name} cut ${index} ${dialect}: ${found.rule} ${found.detail}`)
    }
    naive.cuts++
    if (isBroken(messages.slice(index))) naive.broken++
  }
  if (process.stderr.isTTY) process.stderr.write(`\r${conversations} conversations, ${cuts} cuts `)
}

/** Sliced and sent as it is, without any of our rendering. */
function isBroken(messages: readonly Message[]): boolean {
  const wire = openaiChatFormat.format({ format: 'openai-chat', messages, notes: [] })
  return checkWire('openai-chat', { messages: wire }).some(({ rule }) => rule.includes('result'))
}

const seconds = ((performance.now() - start) / 1_000).toFixed(0)
console.log(
  `${conversations} conversations, ${cuts} cuts, ${checks} checks over ${DIALECTS.length} dialects, ` +
    `${violations} violations (${seconds} s)`,
)
const share = ((100 * naive.broken) / naive.cuts).toFixed(1)
console.log(`control: keeping the last messages as they are breaks ${share}% of ${naive.cuts} cuts`)
process.exitCode = violations === 0 ? 0 : 1
