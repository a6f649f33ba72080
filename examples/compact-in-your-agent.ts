// Compacts your agent's conversation before the next request.
// In your own project install the package (docs/guides/own-agent.md) and import from
// '@throughline/core' and '@throughline/core/openai'.
import { readFile } from 'node:fs/promises'
import { openaiChat } from '../packages/core/src/agent/typed-formats/openai.ts'
import { compactMessages } from '../packages/core/src/index.ts'

const file = new URL('long-conversation.json', import.meta.url)
const { messages } = JSON.parse(await readFile(file, 'utf8'))
const result = await compactMessages(openaiChat, messages, { targetTokens: 8_000 })

process.stdout.write(`${result.kind}: ${result.explanation}\n`)
process.stdout.write(`${result.tokensBefore} -> ${result.tokensAfter} tokens\n`)
process.stdout.write(`${result.messages.length} messages for the next request\n`)
