/** `@throughline/core/session`: run sessions over a store, and look at what a compaction would do. */
export { type Acquisition, type ActorEnd, SessionActor, type SessionParts } from './actor.ts'
export { buildContext, type Context, type InputBody, messagesOf } from './context/build.ts'
export { type Preview, previewCompaction } from './context/preview.ts'
export {
  type HandoffReply,
  type HandoffRequest,
  type HandoffWriter,
  handoffWriter,
} from './handoff.ts'
export { advance, openState } from './protocol/advance.ts'
export { DECISIONS, type Decisions } from './protocol/policy.ts'
export {
  type Effect,
  type Event,
  type Notice,
  SESSION_SETTINGS,
  type SessionSettings,
  type State,
  type WantedSettings,
} from './protocol/state.ts'
export { LEASE_TIMES, type LeaseTimes, Runner, type RunnerParts } from './runner.ts'
export { type Edge, Sender } from './sender.ts'
