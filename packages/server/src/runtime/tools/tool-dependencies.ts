import type { Clock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { Store } from '#core/store/contract'
import type { Route } from '#core/store/tables/rows'
import type { EmbedQuestion } from '../../tools/embedded-question.ts'
import type { Processes } from '../../tools/process/processes.ts'

/** The parts of the runtime that tools may use. */
export interface ToolDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly processes: Processes
  /** Search by meaning, if it is configured. */
  readonly embedQuestion?: EmbedQuestion
  readonly countTokens: (sessionId: SessionId, text: string) => number
  readonly openRoute: (route: Route, scope?: string) => Promise<SessionId | undefined>
  /** A session received mail. */
  readonly onAdmitted: (sessionId: SessionId) => void
}
