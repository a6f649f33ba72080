/** Programs that every runtime must run, and run alike: each prints one text. */
const core = '../../packages/core/src'

const HISTORY = `
  const history = Array.from({ length: 300 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: \`Step \${index}: src/part-\${index % 7}.ts holds \${index * 31}. Größe, Maß, 数値 \${index}. \${'word '.repeat(60)}\`,
  }))`

/** Compaction alone, with no module of Node. */
export const PURE = `
  import { compactMessages } from '${core}/index.ts'
  import { anthropic } from '${core}/agent/typed-formats/anthropic.ts'
  import { openaiChat } from '${core}/agent/typed-formats/openai.ts'
  ${HISTORY}
  export async function run() {
    const options = { targetTokens: 4_000 }
    const chat = await compactMessages(openaiChat, history, options)
    const claude = await compactMessages(anthropic, history, options)
    if (chat.kind !== 'compacted' || claude.kind !== 'compacted') throw new Error(chat.kind)
    return JSON.stringify([chat.messages, claude.messages])
  }`

/** A durable session over the memory store: asked, asked again under its key, searched. */
export const AGENT = `
  import { openAgent } from '${core}/agent/index.ts'
  import { openaiChat } from '${core}/agent/typed-formats/openai.ts'
  import { openMemoryStore } from '${core}/store/memory/open.ts'
  const choice = (content) => ({ index: 0, finish_reason: 'stop', message: { role: 'assistant', content, refusal: null } })
  export async function run() {
    const store = openMemoryStore()
    let asked = 0
    const step = async ({ request }) => ({ choices: [choice(\`answer \${++asked} to \${request.messages.length}\`)] })
    const agent = await openAgent({ store, name: 'support', format: openaiChat, contextWindow: 128_000, step })
    const session = agent.session('ann')
    const first = await session.ask('Where is the key?', { key: 'm1' })
    const again = await session.ask('Where is the key?', { key: 'm1' })
    const found = await session.search('key')
    await agent.close()
    await store.close()
    return JSON.stringify([first.kind, first.text, again.text, asked, found.hits?.length ?? found.length])
  }`
