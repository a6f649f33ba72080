import type { SessionId } from '../base/ids.ts'
import type { ToolSpec } from '../model/model.ts'
import type { Tool } from '../tools/tool.ts'
import type { StepRequest } from '../turn/step.ts'

const SESSIONS_MAX = 2_000

/**
 * A turn keeps the tools it began with. Lists change while turns run (a configuration, a server of
 * others); one that changed between two steps would cost the cached prefix and confuse the model.
 */
export class TurnTools {
  readonly #kept = new Map<
    SessionId,
    { readonly turn: number; readonly specs: readonly ToolSpec[] }
  >()

  of({ sessionId, turn }: StepRequest, tools: readonly Tool[]): readonly ToolSpec[] {
    const kept = this.#kept.get(sessionId)
    if (kept?.turn === turn) return kept.specs
    const specs = tools.map(({ name, description, inputSchema }) => ({
      ...{ name, description, inputSchema },
    }))
    this.#kept.delete(sessionId)
    this.#kept.set(sessionId, { turn, specs })
    const oldest = this.#kept.keys().next().value
    if (this.#kept.size > SESSIONS_MAX && oldest !== undefined) this.#kept.delete(oldest)
    return specs
  }
}
