import type { StandIn } from '../../packages/server/src/stand-in/index.ts'
import { standIn } from '../../packages/server/src/stand-in/index.ts'
import { MeasuredHost } from './host.ts'
import type { HostFigures } from './host-process.ts'

/** What a server is made to do while it is watched. */
const SENTENCE = 'The crane lifted the third container at noon and set it down on the quay. '

export interface LoadTerms {
  readonly store: string
  readonly windowTokens: number
}

export async function withHost<Value>(
  { store, windowTokens }: LoadTerms,
  work: (host: MeasuredHost, model: StandIn) => Promise<Value>,
): Promise<Value> {
  const model = standIn({ script: ({ messages }) => answerTo(messages.length) })
  const running = await model.start()
  const host = await MeasuredHost.start(store, { url: running.url, windowTokens })
  try {
    return await work(host, model)
  } finally {
    await host.end()
    await running.close()
  }
}

const answerTo = (messages: number) => ({ text: `I have ${messages} messages. ${SENTENCE}` })

/** One session with a context as long as they get: messages, compactions, everything read. */
export async function longSession(host: MeasuredHost, kilobytes: number): Promise<HostFigures> {
  const id = 'long'
  await host.post('/v1/sessions', { agent: 'main', id })
  await host.figures()
  const text = SENTENCE.repeat(Math.ceil(20_000 / SENTENCE.length))
  for (let said = 0; said < kilobytes; said += 20) {
    await host.post(`/v1/sessions/${id}/messages?wait=reply`, { text })
  }
  await host.post(`/v1/sessions/${id}/compactions`, {})
  await host.post(`/v1/sessions/${id}/messages?wait=reply`, { text: SENTENCE.repeat(10_000) })
  await host.get(`/v1/sessions/${id}/context`)
  await host.get(`/v1/sessions/${id}/transcript?from=1&limit=100`)
  await host.get('/v1/sessions')
  return await host.figures()
}

/** Many sessions that talk at the same time; each message is answered before the next is sent. */
export async function manySessions(
  host: MeasuredHost,
  { sessions, messages }: { readonly sessions: number; readonly messages: number },
): Promise<{ readonly figures: HostFigures; readonly answerMs: readonly number[] }> {
  const ids = Array.from({ length: sessions }, (_, index) => `many${index}`)
  await Promise.all(ids.map((id) => host.post('/v1/sessions', { agent: 'main', id })))
  await host.figures()
  const answerMs: number[] = []
  await Promise.all(
    ids.map(async (id) => {
      for (let n = 0; n < messages; n++) {
        const sentAt = performance.now()
        await host.post(`/v1/sessions/${id}/messages?wait=reply`, { text: SENTENCE.repeat(10) })
        answerMs.push(performance.now() - sentAt)
      }
    }),
  )
  return { figures: await host.figures(), answerMs }
}
