/** `throughline/session`: run sessions over a store, and look at what a compaction would do. */
export { type Acquisition, type ActorEnd, SessionActor, type SessionParts } from './actor.ts'
export { buildContext, type Context, type InputBody, messagesOf } from './context.ts'
export { DECISIONS, type Decisions } from './decisions.ts'
export {
  type HandoffReply,
  type HandoffRequest,
  type HandoffWriter,
  handoffWriter,
} from './handoff.ts'
export { type Preview, previewCompaction } from './preview.ts'
export { advance, openState } from './protocol.ts'
export { LEASE_TIMES, type LeaseTimes, Runner, type RunnerParts } from './runner.ts'
export { type Edge, Sender } from './sender.ts'
export {
  type Effect,
  type Event,
  type Notice,
  SESSION_SETTINGS,
  type SessionSettings,
  type State,
  type WantedSettings,
} from './state.ts'
