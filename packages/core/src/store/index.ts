/** `@throughline/core/store`: open an engine, or write one of your own over the same rules. */
export {
  type EntryNumber,
  entryNumber,
  type MailNumber,
  mailNumber,
  type OperationId,
  operationId,
  type RunnerId,
  runnerId,
  type SessionId,
  sessionId,
} from '../base/ids.ts'
export type { Commits, Lease, ReadStore, Reads, Store, Tail } from './contract.ts'
export {
  DamagedRowError,
  InvalidBodyError,
  InvalidRequestError,
  OutcomeUnknownError,
  StoreBusyError,
  StoreClosedError,
  StoreDamagedError,
  StoreError,
  StoreFullError,
  StoreReadOnlyError,
  StoreRefusedError,
  UnknownSessionError,
} from './errors.ts'
export { type Engine, storeOver } from './facade.ts'
export { openMemoryStore } from './memory/open.ts'
export type {
  AttemptGroup,
  AttemptSum,
  NoteRow,
  ScheduleRow,
  TokenRow,
} from './operational-rows.ts'
export { RULES, type Rules } from './rules/rules.ts'
export type { Rows, Ruling, StoreChange as Change } from './rules/ruling.ts'
export { openSqliteStore, type SqliteOptions } from './sqlite/open.ts'
export { readSqliteStore } from './sqlite/read.ts'
export type {
  AuditRow,
  Entry,
  Limits,
  MailRow,
  OperationRow,
  Route,
  SessionRow,
} from './tables/rows.ts'
