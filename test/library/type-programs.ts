/** Libraries whose types we write out, because they are too large for everybody who works here. */
export const WRITTEN_OUT = {
  '@google/genai': '2.32.0',
  '@anthropic-ai/claude-agent-sdk': '0.3.326',
  '@google/adk': '2.0.0',
  '@mastra/core': '1.71.0',
}

/** No cast: values of these libraries go in and come out, and their calls take ours. */
export const PROGRAMS: { readonly [file: string]: string } = {
  'genai.ts': `
import {
  type Content, createModelContent, createPartFromFunctionCall, createUserContent,
  type GenerateContentParameters, type GenerateContentResponse,
} from '@google/genai'
import { compactMessages } from '@throughline/core'
import { openAgent } from '@throughline/core/agent'
import { gemini } from '@throughline/core/gemini'
import type { Store } from '@throughline/core/store'

const call = createPartFromFunctionCall('find', { text: 'x' })
const history: Content[] = [createUserContent('Hello.'), createModelContent([call])]
export async function shorten(): Promise<Content[]> {
  return (await compactMessages(gemini, history, { contextWindow: 32_000 })).messages
}
type Ask = (request: GenerateContentParameters) => Promise<GenerateContentResponse>
export const open = (store: Store, ask: Ask) =>
  openAgent({
    store, name: 'mine', format: gemini, contextWindow: 32_000,
    step: ({ request }) => ask({ model: 'gemini-3-pro', ...request }),
  })
// @ts-expect-error: messages of another library
export const wrong = compactMessages(gemini, [{ role: 'user', content: 'x' }], { contextWindow: 32_000 })
`,
  'adk.ts': `
import { LlmAgent } from '@google/adk'
import { compactRequest } from '@throughline/core/adapters/adk'

export const agent = new LlmAgent({
  name: 'a', model: 'gemini-3-pro', beforeModelCallback: compactRequest({ contextWindow: 32_000 }),
})
`,
  'langchain.ts': `
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { compactMessages } from '@throughline/core'
import { openAgent } from '@throughline/core/agent'
import { langchain } from '@throughline/core/langchain'
import type { Store } from '@throughline/core/store'

const history: BaseMessage[] = [new HumanMessage('Hello.'), new AIMessage('Hello.')]
export async function shorten(): Promise<BaseMessage[]> {
  return (await compactMessages(langchain, history, { contextWindow: 32_000 })).messages
}
export const open = (store: Store, ask: (messages: BaseMessage[]) => Promise<AIMessage>) =>
  openAgent({
    store, name: 'mine', format: langchain, contextWindow: 32_000,
    step: ({ request }) => ask(request.messages),
  })
// @ts-expect-error: a message that LangChain would have to make first
export const wrong = compactMessages(langchain, [{ role: 'user', content: 'x' }], { contextWindow: 32_000 })
`,
  'mastra.ts': `
import { Agent } from '@mastra/core/agent'
import { compactProcessor } from '@throughline/core/adapters/mastra'

export const agent = new Agent({
  id: 'a', name: 'a', instructions: 'Be brief.', model: 'openai/gpt-5',
  inputProcessors: [compactProcessor({ contextWindow: 32_000 })],
})
`,
  'claude-agent-sdk.ts': `
import { listSessions, type Options, query, type SessionStore } from '@anthropic-ai/claude-agent-sdk'
import { claudeSessionStore } from '@throughline/core/adapters/claude-agent-sdk'
import type { DurableJournal } from '@throughline/core/journal'

export function open(journal: DurableJournal) {
  const sessionStore = claudeSessionStore(journal, { spool: 'spool' })
  const options: Options = { sessionStore, sessionStoreFlush: 'eager' }
  return { asked: query({ prompt: 'Hello.', options }), listed: listSessions({ sessionStore }) }
}
export const both = (one: SessionStore): SessionStore['append'] => one.append
// @ts-expect-error: a session store needs a folder for its spool
export const wrong = (journal: DurableJournal) => claudeSessionStore(journal, {})
`,
}
