/** `throughline/runtime`: agents over a store, or durable sessions for a loop of your own. */
export { type SessionId, sessionId } from '../base/ids.ts'
export type { Edge } from '../session/sender.ts'
export type { Tool, ToolAnswer, ToolCall } from '../tools/tool.ts'
export type { Agent } from './agent.ts'
export type { Logger } from './logger.ts'
export { MessageError } from './loop-messages.ts'
export { type LoopCall, SessionLostError } from './loop-replies.ts'
export { LocalRuntime, openRuntime, type RuntimeOptions } from './open-runtime.ts'
export { type Loop, type LoopOptions, type LoopStep, openLoop } from './own-loop.ts'
export type {
  Admission,
  ControlEnd,
  Health,
  NewMessage,
  Reply,
  Runtime,
  RuntimeEvent,
  Session,
  SessionSummary,
} from './runtime.ts'
