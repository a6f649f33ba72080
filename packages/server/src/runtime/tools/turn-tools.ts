import type { SessionId } from '#core/base/ids'
import { Recent } from '#core/base/recent'
import type { StepRequest } from '#core/session/step'
import type { ToolSpec } from '../../model/model.ts'
import type { Tool } from '../../tools/tool.ts'

/** Sessions with the same tools share one list. */
const SESSIONS_MAX = 100_000

/**
 * A turn keeps the tools it began with. Lists change while turns run (through the configuration or
 * an MCP server); a change between two steps would invalidate the cached prefix and confuse the
 * model.
 */
export class TurnTools {
  readonly #kept = new Recent<
    SessionId,
    { readonly turn: number; readonly specs: readonly ToolSpec[] }
  >(SESSIONS_MAX)
  #newest: { readonly tools: readonly Tool[]; readonly specs: readonly ToolSpec[] } = {
    ...{ tools: [], specs: [] },
  }

  of({ sessionId, turn }: StepRequest, tools: readonly Tool[]): readonly ToolSpec[] {
    const kept = this.#kept.get(sessionId)
    if (kept?.turn === turn) return kept.specs
    const specs = this.#specsOf(tools)
    this.#kept.set(sessionId, { turn, specs })
    return specs
  }

  /** The tools of the newest turn; a session without a turn here would get these. */
  newestOf(sessionId: SessionId, tools: readonly Tool[]): readonly ToolSpec[] {
    return this.#kept.get(sessionId)?.specs ?? specsOf(tools)
  }

  #specsOf(tools: readonly Tool[]): readonly ToolSpec[] {
    const { tools: before, specs } = this.#newest
    const isSame =
      before.length === tools.length && tools.every((tool, index) => tool === before[index])
    if (isSame) return specs
    this.#newest = { tools, specs: specsOf(tools) }
    return this.#newest.specs
  }
}

function specsOf(tools: readonly Tool[]): readonly ToolSpec[] {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
}
