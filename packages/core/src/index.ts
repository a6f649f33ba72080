/**
 * The entry point for most programs. The parts are in `@throughline/core/compaction`, `/message`
 * and `/tokens`.
 */
export {
  type Compacted,
  type CompactedFigures,
  type CompactMessagesOptions,
  compactMessages,
  type Summarize,
} from './agent/compact-messages.ts'
export type {
  AnyFormat,
  Format,
  FormatShape,
  MessageOf,
  ReplyOf,
  RequestFor,
} from './agent/typed-formats/format.ts'
export { KnownError } from './base/errors.ts'
export {
  ERROR_CODES,
  type ErrorCode,
  isThroughlineError,
  ThroughlineError,
} from './base/throughline-error.ts'
export { compact } from './compaction/compact.ts'
export type { CompactOptions } from './compaction/compact-options.ts'
export type { CompactResult } from './compaction/report/outcome.ts'
export type { CompactStats } from './compaction/report/stats.ts'
export type { SummaryRequest } from './compaction/summary/prompt.ts'
export type { SummaryReply, SummaryWriter } from './compaction/summary/summary-writer.ts'
export type { Conversation } from './message/codec.ts'
export { normalize } from './message/dialects/normalize.ts'
export { render } from './message/dialects/render.ts'
export type { FormatName } from './message/formats/names.ts'
export { InputError } from './message/input-error.ts'
export type { Message } from './message/message.ts'
export { readConversation } from './message/read.ts'
export { convertConversation, writeConversation } from './message/write.ts'
export { exactCounter } from './tokens/exact.ts'
export { familyOf, type ModelFamily } from './tokens/family.ts'
