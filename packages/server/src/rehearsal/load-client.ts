import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, type JsonValue } from '#core/base/json'
import type { Ledger, TrackedMessage } from './laws/ledger.ts'
import type { SessionAction } from './process-messages.ts'
import type { ProcessHandle } from './stage/process-handle.ts'

/**
 * Sends one agent its messages, one after another, through any process that is running, as gateways
 * do. A message counts as acknowledged when a process has said so; until then it is sent again with
 * the same key.
 */
export interface LoadClientParts {
  readonly agent: string
  readonly handles: readonly ProcessHandle[]
  readonly ledger: Ledger
  readonly paceMs: number
  readonly tokens: number
  readonly sendsTwice: boolean
  /** Something that must never happen. */
  readonly onFailure: (text: string) => void
}

/** If more than this many wait, sending pauses for a moment. */
const WAITING_MAX = 30
const AGAIN_MS = 50
const TRIES_MAX = 400
/** Of this many messages, one has an external effect and one is sent twice. */
const HAND_OVER_EVERY = 4
const TWICE_EVERY = 3

export class LoadClient {
  readonly #parts: LoadClientParts
  readonly #extra: TrackedMessage[] = []
  #turn: number
  #sent = 0
  #stops = 0

  constructor(parts: LoadClientParts) {
    this.#parts = parts
    // Each client starts with a different process.
    this.#turn = parts.handles.findIndex(({ name }) => name === parts.agent)
  }

  /** Extra messages, sent before the conversation continues. */
  bring(lane: TrackedMessage['lane'], count: number, tokens = SHORT_TOKENS): void {
    const { agent, ledger } = this.#parts
    for (let at = 0; at < count; at++) this.#extra.push(ledger.write(agent, { lane, tokens }))
  }

  async run(signal: AbortSignal): Promise<void> {
    const { agent, ledger, paceMs, tokens } = this.#parts
    while (!signal.aborted) {
      const handle = this.#parts.handles.find(({ name }) => name === agent)
      if ((handle?.status?.waiting ?? 0) < WAITING_MAX) {
        this.#sent += 1
        const command = this.#sent % HAND_OVER_EVERY === 0 ? ('hand-over' as const) : undefined
        const letter = ledger.write(agent, {
          ...{ lane: 'user', tokens },
          ...(command !== undefined && { command }),
        })
        await this.#deliver(letter, this.#sent % TWICE_EVERY === 0)
      }
      const until = performance.now() + paceMs
      do {
        await this.#deliverExtra()
        await sleep(AGAIN_MS)
      } while (performance.now() < until && !signal.aborted)
    }
    await this.#deliverExtra()
  }

  async stop(): Promise<void> {
    const { agent, ledger } = this.#parts
    this.#stops += 1
    const key = `stop-${this.#stops}`
    const value = await this.#ask({
      what: 'stop',
      sessionId: agent,
      source: `person-${agent}`,
      key,
    })
    if (mailOf(value) !== null) ledger.acknowledgeStop(agent)
  }

  async #deliverExtra(): Promise<void> {
    for (let letter = this.#extra.shift(); letter; letter = this.#extra.shift()) {
      await this.#deliver(letter, false)
    }
  }

  async #deliver(letter: TrackedMessage, isTwice: boolean): Promise<void> {
    const { key, lane, text, agent } = letter
    const source = lane === 'user' ? `chat-${agent}` : `watch-${agent}`
    const question: SessionAction = { what: 'admit', sessionId: agent, source, key, lane, text }
    this.#parts.ledger.send(letter)
    const bring = () => this.#ask(question)
    const answers = await (isTwice && this.#parts.sendsTwice
      ? Promise.all([bring(), bring()])
      : Promise.all([bring()]))
    const mails = new Set(answers.map(mailOf).filter((mail) => mail !== null))
    const [mail = null] = mails
    if (mails.size > 1) {
      this.#parts.onFailure(`${key} was acknowledged as mail ${[...mails].join(' and ')}`)
    }
    if (mail === null) {
      this.#parts.onFailure(`${key} was refused: ${JSON.stringify(answers[0])}`)
      return
    }
    letter.mail = mail
  }

  /** Tries one process after another until one answers. */
  async #ask(question: SessionAction): Promise<JsonValue> {
    const { handles } = this.#parts
    let last = 'nobody was there'
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      this.#turn = (this.#turn + 1) % handles.length
      const handle = handles[this.#turn]
      if (handle?.isReady) {
        try {
          return await handle.ask(question)
        } catch (error) {
          last = String(error)
        }
      }
      await sleep(AGAIN_MS)
    }
    this.#parts.onFailure(`${question.what} for ${question.sessionId} was never answered: ${last}`)
    return null
  }
}

const SHORT_TOKENS = 40

function mailOf(value: JsonValue | undefined): number | null {
  if (!isObject(value)) return null
  const { kind, mail } = value
  return (kind === 'admitted' || kind === 'duplicate') && typeof mail === 'number' ? mail : null
}
