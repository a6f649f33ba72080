/** `throughline/stand-in`: a model server without a provider, for tests and demonstrations. */
export type { Script } from './answer.ts'
export { type FaultKind, Faults, STAND_IN_FAULTS as FAULTS } from './faults.ts'
export { Journal, type JournalEntry, type SocketRecord } from './journal.ts'
export type { Answer, Ask } from './protocols/protocol.ts'
export { type Running, StandIn, type StandInOptions, standIn } from './server.ts'
