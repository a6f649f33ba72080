import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import type { Answer, Ask } from '../../stand-in/protocols/protocol.ts'
import { recordsOf, sentencesOf } from '../../stand-in/records.ts'
import { type Running, type StandIn, standIn } from '../../stand-in/server.ts'
import { asksForSummary } from '../../stand-in/summary.ts'
import { agentOf, marksIn, openTaskOf, parcelOf } from '../laws/ledger.ts'
import { SUMMARY_MODEL } from '../terms.ts'

/**
 * The model of a rehearsal: the stand-in over real HTTP, which answers questions from the request
 * and searches with `recall` before it says that it does not know. It also records the wire: which
 * messages each model was sent, and how large the largest request was.
 */
export interface RecordedRequest {
  /** Messages that appeared verbatim in a request of their own agent. */
  readonly seen: ReadonlySet<string>
  /** Messages in requests of another agent, or of several agents in one request. */
  readonly strays: readonly string[]
  readonly requests: number
  readonly summaries: number
  readonly tokensMax: number
}

const SPEED = { firstByteMs: 25, outputTokensPerSecond: 500 }
/** A summary takes this long, so that other things happen meanwhile. */
const SUMMARY_MS = 1_000
const STRAYS_KEPT_MAX = 20

export class RehearsalModel {
  readonly server: StandIn
  readonly #findText: (key: string) => string | undefined
  readonly #seen = new Set<string>()
  readonly #strays: string[] = []
  #requests = 0
  #summaries = 0
  #tokensMax = 0
  #running: Running | null = null

  constructor(findText: (key: string) => string | undefined) {
    this.#findText = findText
    this.server = standIn({ speed: SPEED, script: (ask) => this.#answer(ask) })
    this.server.faults.always(`latency; ms=${SUMMARY_MS}`, { when: isForSummary })
  }

  /** The same address before and after an outage. */
  async start(): Promise<string> {
    const port = this.#running?.port ?? 0
    this.#running = await this.server.start({ port })
    return this.#running.url
  }

  async stop(): Promise<void> {
    await this.#running?.close()
  }

  /** The agents that have waited for this model for at least this long. */
  waitingFor(ms: number): readonly string[] {
    const now = performance.now()
    return this.server.journal.entries
      .filter(({ outcome, startedAtMs }) => outcome === 'open' && now - startedAtMs > ms)
      .map(({ bodyText }) => /"model":\s*"(agent-\d+)"/.exec(bodyText)?.[1])
      .filter((agent) => agent !== undefined)
  }

  record(): RecordedRequest {
    return {
      seen: this.#seen,
      strays: this.#strays,
      requests: this.#requests,
      summaries: this.#summaries,
      tokensMax: this.#tokensMax,
    }
  }

  #answer(ask: Ask): Partial<Answer> | undefined {
    this.#watch(ask)
    return ask.model.startsWith('agent-') ? answerTo(ask) : undefined
  }

  #watch({ model, messages, inputTokens }: Ask): void {
    const texts = recordsOf(messages).map(({ text }) => text)
    const marks = new Set(texts.flatMap((text) => marksIn(text)))
    const last = messages.at(-1)
    const isSummary = model === SUMMARY_MODEL || (last && asksForSummary(textOf(last)))
    if (isSummary) this.#summaries += 1
    else if (model.startsWith('agent-')) {
      this.#requests += 1
      this.#tokensMax = Math.max(this.#tokensMax, inputTokens)
      const whole = texts.join('\n')
      for (const key of marks) {
        const text = this.#seen.has(key) ? undefined : this.#findText(key)
        if (text !== undefined && whole.includes(text)) this.#seen.add(key)
      }
    }
    const agents = new Set([...marks].map(agentOf))
    const isOwn = model.startsWith('agent-') ? [...agents].every((each) => each === model) : true
    if ((!isOwn || agents.size > 1) && this.#strays.length < STRAYS_KEPT_MAX) {
      this.#strays.push(`a request of ${model} holds messages of ${[...agents].join(' and ')}`)
    }
  }
}

export function isForSummary({ model }: { readonly model: string | undefined }): boolean {
  return model === SUMMARY_MODEL
}

const PARCEL = /^Question: what is the code word of parcel (p\d+x\d+)\?/
const OPEN = /^Question: is anything open for (agent-\d+)\?/

export function parcelQuestion(key: string): string {
  return `Question: what is the code word of parcel ${parcelOf(key)}?`
}

export function openQuestion(agent: string): string {
  return `Question: is anything open for ${agent}?`
}

export const KNOWN = 'I was told:'
export const LOOKED_UP = 'I looked it up:'

function answerTo({ messages }: Ask): Partial<Answer> | undefined {
  // Other messages may follow the question; it is still answered, once.
  const at = messages.findLastIndex(isQuestion)
  const asked = messages[at]
  if (asked === undefined || messages.slice(at + 1).some(isFinal)) return undefined
  const question = textOf(asked)
  const parcel = PARCEL.exec(question)?.[1]
  if (parcel !== undefined) {
    return answer(messages, at, `The code word of parcel ${parcel} is`, parcel)
  }
  const agent = OPEN.exec(question)?.[1]
  if (agent === undefined) return undefined
  const reply = answer(messages, at, openTaskOf(agent), `open ${openTaskOf(agent)}`)
  return reply.text?.includes('no record') ? { text: 'I am idle: nothing is open.' } : reply
}

function isQuestion(message: Message): boolean {
  return message.role === 'user' && textOf(message).startsWith('Question:')
}

function isFinal(message: Message): boolean {
  if (message.role !== 'assistant') return false
  return message.parts.every((part) => part.type !== 'tool-call')
}

/** From the context, otherwise by `recall`, otherwise not at all. */
function answer(
  messages: readonly Message[],
  at: number,
  wanted: string,
  query: string,
): Partial<Answer> & { text?: string } {
  const found = findSentence(messages.slice(0, at), wanted)
  if (found !== undefined) return { text: `${KNOWN} ${found}` }
  const results = messages.slice(at + 1).filter(({ role }) => role === 'tool')
  if (results.length === 0) {
    return { calls: [{ name: 'recall', input: JSON.stringify({ query, limit: 5 }) }] }
  }
  const recalled = findSentence(results, wanted)
  if (recalled !== undefined) return { text: `${LOOKED_UP} ${recalled}` }
  return { text: `I have no record of ${query}.` }
}

function findSentence(messages: readonly Message[], wanted: string): string | undefined {
  for (const { text } of recordsOf(messages)) {
    const found = sentencesOf(text).find(
      (sentence) => sentence.includes(wanted) && !sentence.startsWith('Question:'),
    )
    if (found !== undefined) return found.slice(0, 400)
  }
  return undefined
}
