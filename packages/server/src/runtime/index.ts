/** `throughline/runtime`: agents over a store, with models, tools and gateways. */
export { type SessionId, sessionId } from '#core/base/ids'
export type { Logger } from '#core/base/logger'
export type { RuntimeEvent } from '#core/session/events/runtime-event'
export type { Edge } from '#core/session/sender'
export type { ControlEnd } from '#core/session/view/control-outcome'
export type { Tool, ToolAnswer, ToolCall } from '../tools/tool.ts'
export type { Agent } from './agent.ts'
export { HandoffThread } from './handoff-thread/handoff-thread.ts'
export { LocalRuntime, openRuntime, type RuntimeOptions } from './open-runtime.ts'
export type {
  Admission,
  Health,
  NewMessage,
  Reply,
  Runtime,
  Session,
  SessionSummary,
} from './runtime.ts'
