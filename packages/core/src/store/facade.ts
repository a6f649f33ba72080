import type {
  CommitVerb,
  OutcomeOf,
  ReadStore,
  Reads,
  ReadVerb,
  RequestOf,
  Store,
} from './contract.ts'
import { exportSession, importSession } from './portable/portable.ts'
import { RULES } from './rules/rules.ts'

export type QueryOf<Verb extends ReadVerb> = Parameters<Reads[Verb]>[0]
export type AnswerOf<Verb extends ReadVerb> = Awaited<ReturnType<Reads[Verb]>>

/** The reads of a synchronous engine, on whichever thread it runs. */
export type Readers = {
  readonly [Verb in ReadVerb]: (query: QueryOf<Verb>) => AnswerOf<Verb>
}

/** The parts that an engine supplies; the rest of a store is shared. */
export interface Engine {
  commit<Verb extends CommitVerb>(verb: Verb, request: RequestOf<Verb>): Promise<OutcomeOf<Verb>>
  read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): Promise<AnswerOf<Verb>>
  backup(to: string): Promise<void>
  watch(listener: () => void): () => void
  close(): Promise<void>
}

const READ_VERBS: Record<ReadVerb, true> = {
  readStore: true,
  readSize: true,
  findSession: true,
  look: true,
  listSessions: true,
  readReady: true,
  listRunners: true,
  readEntries: true,
  readContext: true,
  listMail: true,
  findOperation: true,
  listOperations: true,
  listReplies: true,
  findDraft: true,
  findRoute: true,
  listRoutes: true,
  readAudit: true,
  readAttempts: true,
  sumAttempts: true,
  groupAttempts: true,
  listSchedules: true,
  listNotes: true,
  listTokens: true,
  findToken: true,
  findBlob: true,
  search: true,
  readUnembedded: true,
  verify: true,
}

/** A read-only store. */
export function readStoreOver(engine: Pick<Engine, 'read' | 'close'>): ReadStore {
  const reads = readsOver(engine) as unknown as Reads
  return Object.assign(reads, {
    close: () => engine.close(),
    exportSession: (id: Parameters<Store['exportSession']>[0]) => exportSession(reads, id),
  })
}

function readsOver(engine: Pick<Engine, 'read'>): Record<string, unknown> {
  const methods: Record<string, unknown> = {}
  for (const verb of Object.keys(READ_VERBS) as ReadVerb[]) {
    methods[verb] = (query: QueryOf<typeof verb>) => engine.read(verb, query)
  }
  return methods
}

export function storeOver(engine: Engine): Store {
  const methods: Record<string, unknown> = readsOver(engine)
  for (const verb of Object.keys(RULES) as CommitVerb[]) {
    methods[verb] = (request: RequestOf<typeof verb>) => engine.commit(verb, request)
  }
  // `READ_VERBS` and `RULES` have a key for each method of Reads and Commits; their types require
  // it.
  const verbs = methods as unknown as Store
  return Object.assign(verbs, {
    backup: (to: string) => engine.backup(to),
    watch: (listener: () => void) => engine.watch(listener),
    close: () => engine.close(),
    exportSession: (id: Parameters<Store['exportSession']>[0]) => exportSession(verbs, id),
    importSession: (lines: Parameters<Store['importSession']>[0]) => importSession(verbs, lines),
  })
}
