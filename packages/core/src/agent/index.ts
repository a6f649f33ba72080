/** `@throughline/core/agent`: durable sessions around a model call of yours. */
export type {
  CompactionReport,
  CompactionSpend,
  Fate,
  FateCount,
  ReportedMessage,
} from '../session/view/compaction-report.ts'
export { openAgent } from './agent.ts'
export type {
  AgentAnswer,
  AgentSession,
  AgentStep,
  AskOptions,
  ControlResult,
  DurableAgent,
  ErrorContext,
  ForkOptions,
  ForkResult,
  FoundEntry,
  HistoryEntry,
  OpenAgentOptions,
  RecordedTurn,
  RefusedFork,
  RefusedMessage,
  RetryOptions,
  SentMessage,
  SessionEvent,
  SessionInfo,
  TurnOutcome,
  TurnRecord,
} from './agent-types.ts'
export { ContextTooLongError } from './attempt.ts'
export { type Loop, type LoopStep, openLoop } from './open-loop.ts'
export {
  type AgentTool,
  type AnyTool,
  type JsonSchema,
  type StandardSchema,
  type ToolContext,
  tool,
} from './tool.ts'
