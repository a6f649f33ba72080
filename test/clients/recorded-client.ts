import { afterEach } from 'vitest'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { JsonObject } from '../../packages/core/src/base/json.ts'
import { SILENT } from '../../packages/core/src/base/logger.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import type { Entry } from '../../packages/core/src/store/tables/rows.ts'
import type { RecordedPassage } from '../../packages/server/src/runtime/client-sessions/passage.ts'
import {
  Recorder,
  type RecorderOptions,
} from '../../packages/server/src/runtime/client-sessions/recorder.ts'
import { until } from '../support/until.ts'

/** Recorders of the proxy, and a client that talks through one. */
export const ID = sessionId('claude-s1')
export const WINDOW = 8_000
export const opened: Recorder[] = []

afterEach(async () => {
  for (const recorder of opened.splice(0)) await recorder.close()
})

export function recorder(store: Store, more: Partial<RecorderOptions> = {}): Recorder {
  const options = { store, clock: systemClock, logger: SILENT, windowTokens: WINDOW, ...more }
  const made = new Recorder(options)
  opened.push(made)
  return made
}

/** A client of Anthropic's API that keeps its history as Claude Code does. */
export class Client {
  messages: JsonObject[] = []
  tools: readonly JsonObject[] = [{ name: 'Bash' }]
  readonly recorder: Recorder
  readonly headers: { [name: string]: string } = { 'x-claude-code-session-id': 's1' }

  constructor(made: Recorder) {
    this.recorder = made
  }

  body(): Buffer {
    const marked = this.messages.map((message, index) =>
      index < this.messages.length - 1 ? message : withMark(message),
    )
    const rest = { tools: this.tools, stream: true }
    return Buffer.from(JSON.stringify({ model: 'claude-x', messages: marked, ...rest }))
  }

  async ask(): Promise<RecordedPassage> {
    const request = { path: '/v1/messages', headers: this.headers, body: this.body(), launch: null }
    return await this.recorder.begin(request)
  }

  /** One turn: a prompt, and an answer with this reported usage. */
  async turn(text: string, answer: string, inputTokens = 100): Promise<string> {
    this.messages.push({ role: 'user', content: [{ type: 'text', text }] })
    const passage = await this.ask()
    const sent = Buffer.concat([...passage.send]).toString()
    for (const event of replyEvents(answer, inputTokens)) passage.take(event)
    await passage.end()
    this.messages.push({ role: 'assistant', content: [{ type: 'text', text: answer }] })
    return sent
  }
}

function withMark(message: JsonObject): JsonObject {
  const blocks = message['content'] as readonly JsonObject[]
  const marked = blocks.map((block) => ({ ...block, cache_control: { type: 'ephemeral' } }))
  return { ...message, content: marked }
}

export function replyEvents(text: string, inputTokens: number): readonly JsonObject[] {
  return [
    { type: 'message_start', message: { usage: { input_tokens: inputTokens } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'message_stop' },
  ]
}

export async function entries(store: Store, id = ID): Promise<readonly Entry[]> {
  const row = await store.findSession(id)
  const to = row?.tail ?? 0
  return to === 0
    ? []
    : await store.readEntries({ sessionId: id, from: 1 as never, to: to as never })
}

export const kinds = async (store: Store) => (await entries(store)).map(({ kind }) => kind)
export const compactions = async (store: Store) =>
  (await kinds(store)).filter((kind) => kind === 'compaction').length

export const LONG = 'The quick brown fox jumps over the lazy dog and looks back. '.repeat(20)

/** Runs turns until a handoff is in effect, and one more that uses it. */
export async function compacted(client: Client, store: Store): Promise<string> {
  for (let at = 0; at < 12; at += 1) await client.turn(`Question ${at}. ${LONG}`, `Answer ${at}.`)
  await client.turn('More', 'Yes', WINDOW)
  await until(async () => (await compactions(store)) > 0)
  return await client.turn('Next', 'Done')
}
