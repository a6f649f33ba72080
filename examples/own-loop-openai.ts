// In your own project install the package (docs/guides/own-agent.md) and import from 'throughline/runtime' and so on.
import OpenAI from 'openai'
import { openSqliteStore } from '../packages/core/src/store/index.ts'
import { standIn } from '../packages/server/src/proof/stand-in/index.ts'
import { openLoop } from '../packages/server/src/runtime/index.ts'

// A model server that needs no key stands in for the provider; with a key, drop baseURL.
const server = await standIn().start()
const openai = new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1` })

const store = await openSqliteStore({ path: process.argv[2] ?? 'own-loop.db' })
const loop = await openLoop({ store, agent: 'mine', format: 'openai-chat', windowTokens: 128_000 })

async function ask(text: string): Promise<string> {
  await loop.admit('session-1', { role: 'user', content: text })
  for await (const step of loop) {
    const completion = await openai.chat.completions.create(
      { model: 'stand-in', messages: step.messages as never },
      { signal: step.signal },
    )
    const answer = completion.choices[0]?.message
    await step.reply({ role: 'assistant', content: answer?.content ?? '' })
    return answer?.content ?? ''
  }
  return ''
}

await ask('The code word is GRANITE.')
process.stdout.write(`${await ask('What was the code word?')}\n`)

await loop.close()
await store.close()
await server.close()
