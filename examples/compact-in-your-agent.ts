// Your agent's conversation has grown. Make it smaller before the next request.
// In your own project install the package (docs/guides/own-agent.md) and import from '@throughline/core/compaction'.
import { readFile } from 'node:fs/promises'
import { compact } from '../packages/core/src/compaction/index.ts'
import { readConversation, writeConversation } from '../packages/core/src/message/index.ts'

const file = new URL('long-conversation.json', import.meta.url)
const conversation = readConversation(await readFile(file, 'utf8'), 'auto')
const result = await compact(conversation.messages, { budget: { targetTokens: 8_000 } })

process.stdout.write(`${result.outcome}: ${result.explanation}\n`)
process.stdout.write(`${result.stats.tokensBefore} -> ${result.stats.tokensAfter} tokens\n`)

// Always usable: the input again unless it was compacted.
const next = writeConversation({ ...conversation, messages: result.messages })
process.stdout.write(`${next.length} characters of JSON for the next request\n`)
