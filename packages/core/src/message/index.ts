/** `@throughline/core/message`: the message model, codecs for foreign formats, provider rules. */
export type { JsonObject, JsonValue } from '../base/json.ts'
export type { Codec, Conversation, Wrapper } from './codec.ts'
export { DIALECTS, type Dialect } from './dialect.ts'
export { checkWire } from './dialects/check/check.ts'
export type { Violation } from './dialects/findings.ts'
export { normalize } from './dialects/normalize.ts'
export type { Wire } from './dialects/provider-dialect.ts'
export { render } from './dialects/render.ts'
export { type DialectRule as Rule, explainRule, RULES_BY_DIALECT } from './dialects/rules.ts'
export { CODECS, codecOf } from './formats/file-formats.ts'
export { FORMAT_NAMES, type FormatName } from './formats/names.ts'
export { findHandoff, writeEnvelope } from './handoff/envelope.ts'
export {
  type FileRecord,
  type Handoff,
  LEDGER_KINDS,
  type LedgerEntry,
  type LedgerKind,
  type PreservedMessage,
  type Task,
} from './handoff/handoff.ts'
export { InputError } from './input-error.ts'
export {
  type AssistantMessage,
  type AssistantPart,
  type BlobSource,
  type FilePart,
  type HandoffMessage,
  type ImagePart,
  MESSAGE_VERSION,
  type Message,
  type OpaquePart,
  type Origin,
  type Part,
  type Provider,
  type ReasoningPart,
  type ResultPart,
  type SystemMessage,
  type TextPart,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
  type Usage,
  type UserMessage,
  type UserPart,
} from './message.ts'
export { type OpenCall, openCalls, type Repair, type RepairKind, repairPairs } from './pairing.ts'
export { type ReadLimits, readConversation } from './read.ts'
export { textOf } from './text.ts'
export { convertConversation, writeConversation } from './write.ts'
