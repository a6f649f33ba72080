import { type Running, type StandIn, standIn } from '../../stand-in/server.ts'
import { SUMMARY_MODEL } from '../terms.ts'

/**
 * The model of the stage: a separate stand-in, so that the crowd's faults do not reach it, nor its
 * faults the crowd. Agents are distinguished by the model they request.
 */
const SPEED = { firstByteMs: 10, outputTokensPerSecond: 2_000 }
/** How long a handoff takes unless a scene makes it longer. */
const SUMMARY_MS = 150
const OF_SUMMARY = 'summary of '
/** The text that every request for a handoff contains, in whichever form the conversation comes. */
const WISH = 'Write the handoff under'

export class StageModel {
  readonly #server: StandIn
  readonly #spoilt = new Map<string, () => void>()
  readonly #tokensMax = new Map<string, number>()
  #running: Running | null = null
  /** Called before a request is answered. */
  onRequest: (agent: string) => void = () => {}

  constructor() {
    this.#server = standIn({
      speed: SPEED,
      script: ({ model, inputTokens }) => {
        this.#tokensMax.set(model, Math.max(this.#tokensMax.get(model) ?? 0, inputTokens))
        this.onRequest(model)
        return undefined
      },
    })
    this.#server.faults.always(`latency; ms=${SUMMARY_MS}`, {
      when: (target) => this.#isPlain(target),
    })
  }

  async start(): Promise<string> {
    this.#running = await this.#server.start()
    return this.#running.url
  }

  async stop(): Promise<void> {
    await this.#running?.close()
  }

  /** Answers to this agent are delayed or faulty until `heal`. */
  spoil(agent: string, fault: string): void {
    this.heal(agent)
    const heal = this.#server.faults.always(fault, { when: ({ model }) => model === agent })
    this.#spoilt.set(agent, heal)
  }

  /** The same for handoffs of this agent's conversation. */
  spoilSummary(agent: string, fault: string): void {
    this.heal(OF_SUMMARY + agent)
    const heal = this.#server.faults.always(fault, {
      // If the model that writes handoffs fails, the agent's own model is asked.
      when: ({ model, bodyText }) =>
        (model === SUMMARY_MODEL || (model === agent && bodyText.includes(WISH))) &&
        bodyText.includes(agent),
    })
    this.#spoilt.set(OF_SUMMARY + agent, heal)
  }

  heal(what: string): void {
    this.#spoilt.get(what)?.()
    this.#spoilt.delete(what)
  }

  /** The requests to this agent's model, oldest first. */
  requestsOf(agent: string): readonly string[] {
    const named = `"model":"${agent}"`
    return this.#server.journal.entries
      .map(({ bodyText }) => bodyText)
      .filter((text) => text.includes(named))
  }

  /** A handoff without a fault; of two standing faults the older one applies. */
  #isPlain({ model, bodyText }: { model: string | undefined; bodyText: string }): boolean {
    const spoilt = [...this.#spoilt.keys()].filter((what) => what.startsWith(OF_SUMMARY))
    const isSpoilt = spoilt.some((what) => bodyText.includes(what.slice(OF_SUMMARY.length)))
    return model === SUMMARY_MODEL && !isSpoilt
  }

  tokensMaxOf(agent: string): number {
    return this.#tokensMax.get(agent) ?? 0
  }
}
