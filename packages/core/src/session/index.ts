/** `@throughline/core/session`: run sessions over a store, and preview compactions. */
export { type Acquisition, type ActorEnd, SessionActor, type SessionParts } from './actor.ts'
export { buildContext, type Context, type InputBody, messagesOf } from './context/build.ts'
export {
  type HandoffReply,
  type HandoffRequest,
  type HandoffWriter,
  handoffWriter,
} from './handoff.ts'
export { type Preview, previewCompaction } from './preview.ts'
export { advance, openState } from './protocol/advance.ts'
export { DECISIONS, type Decisions } from './protocol/policy.ts'
export type { Effect, Event, Notice, State } from './protocol/state.ts'
export { Runner, type RunnerParts } from './runner/runner.ts'
export { LEASE_TIMES, type LeaseTimes } from './runner/runner-lease.ts'
export { type Edge, Sender } from './sender.ts'
export { SESSION_SETTINGS, type SessionSettings, type WantedSettings } from './settings.ts'
