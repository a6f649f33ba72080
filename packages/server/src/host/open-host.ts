import { AuditLog, NO_AUDIT } from '#core/audit/log/log'
import { systemClock } from '#core/base/clock'
import type { Logger } from '#core/base/logger'
import type { Store } from '#core/store/contract'
import { leftIn } from '../migration/leave/left-sessions.ts'
import { openEmbedder } from '../model/embeddings/embedder.ts'
import type { Agent } from '../runtime/agent.ts'
import { HandoffThread } from '../runtime/handoff-thread/handoff-thread.ts'
import { type LocalRuntime, openRuntime } from '../runtime/open-runtime.ts'
import { standIn } from '../stand-in/server.ts'
import { needsStandIn } from './config/agents-of.ts'
import { embeddingRouteOf } from './config/embedding-route.ts'
import { type Loaded, requireConfig } from './config/load.ts'
import type { Config } from './config/schema/schema.ts'
import type { StoreFlags } from './flags.ts'
import { runtimeTerms } from './from-config.ts'
import { type OpenLogger, openLogger } from './open-logger.ts'
import { findBehind, mayLackCommits, openStore } from './open-store.ts'
import { leftFolder, programEnvironment } from './operating-system.ts'
import {
  auditFolder,
  besideStore,
  checkExists,
  checkOwn,
  checkOwnLogs,
  logsIn,
  storeRequest,
} from './store-selection.ts'

/**
 * Everything that a process opens to work on a store with the agents of a configuration: the store,
 * the built-in model if an agent uses it, and a runtime. Closed in reverse order.
 */
export interface Host {
  readonly loaded: Loaded
  readonly store: Store
  readonly runtime: LocalRuntime
  readonly logger: OpenLogger
  /** An agent uses the built-in model. */
  readonly isStandIn: boolean
  /** The host that gets passages and questions to embed; null: none. */
  readonly embedsAt: string | null
  /** Builds the agents of a configuration, after the file has changed. */
  readonly agentsFrom: (loaded: Loaded) => readonly Agent[]
  close(): Promise<void>
}

export async function openHost(
  flags: StoreFlags,
  terms: {
    readonly runs: boolean
    readonly mayMake: boolean
    /** Do not log to an interactive terminal. */
    readonly isTalk?: true
  },
): Promise<Host> {
  const loaded = requireConfig(storeRequest(flags))
  const { config } = loaded
  checkOwn(loaded, terms.mayMake)
  if (!terms.mayMake) checkExists(config.store.url)
  if (terms.runs) checkOwnLogs(config.store.url)
  const closers: (() => Promise<void>)[] = []
  const close = async () => {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer()
  }
  try {
    const logger = openLogger(loggingOf(config, terms.isTalk), process.stderr)
    closers.push(async () => logger.close())
    if (terms.runs && mayLackCommits(config.store)) {
      const why = 'neither the anchor nor the record of commits is beside the store'
      logger.warn(
        { store: config.store.url },
        `${why}: if this is not a backup, compare it with the audit logs (throughline audit)`,
      )
    }
    const store = await openStore(config.store, process.env, besideStore(config.store.url))
    closers.push(() => store.close())
    if (terms.runs) await warnOfOldCopy(store, config.store.url, logger)
    const model = await startStandIn(config)
    if (model !== null) closers.push(() => model.close())
    const audit = terms.runs ? openAudit(config, logger) : NO_AUDIT
    if (audit instanceof AuditLog) closers.push(async () => audit.close())
    if (terms.runs) checkOwnLogs(config.store.url)
    const termsOf = (each: Loaded) =>
      runtimeTerms(each.config, {
        standInUrl: model?.url ?? NO_STAND_IN,
        ...{ folder: each.folder, file: each.file },
        env: programEnvironment(),
      })
    const agentsFrom = (each: Loaded) => termsOf(each).agents
    const route = embeddingRouteOf(config)
    const embedder = route && openEmbedder(route, process.env)
    if (embedder !== undefined) closers.push(() => embedder.close())
    const handoffThread = new HandoffThread()
    closers.push(() => handoffThread.close())
    const runtime = await openRuntime({
      store,
      handoffThread,
      ...termsOf(loaded),
      environment: process.env,
      logger,
      audit,
      runs: terms.runs,
      leftOf: leftIn(leftFolder),
      ...(embedder !== undefined && { embedder }),
    })
    closers.push(() => runtime.close())
    const embedsAt = embedder?.host ?? null
    return {
      loaded,
      store,
      runtime,
      logger,
      isStandIn: model !== null,
      embedsAt,
      agentsFrom,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function warnOfOldCopy(store: Store, url: string, logger: Logger): Promise<void> {
  const behind = await findBehind(store, url, logsIn(auditFolder(url)))
  if (behind.length === 0) return
  logger.error(
    { store: url, sessions: behind.length, first: behind[0] },
    'the audit logs record later messages than the store holds: an older copy was put in its place (throughline doctor)',
  )
}

function loggingOf({ logging }: Config, isTalk: true | undefined): Config['logging'] {
  return isTalk && logging.file === undefined ? { ...logging, level: 'silent' } : logging
}

/** One file per process, for `throughline audit`. */
function openAudit({ store }: Config, logger: Logger): AuditLog {
  return new AuditLog({
    folder: auditFolder(store.url),
    clock: systemClock,
    onFailure: (error) => logger.error({ err: error }, 'audit log cannot be written'),
  })
}

/** A closed port: the stand-in starts only with the process. */
const NO_STAND_IN = 'http://127.0.0.1:9'

async function startStandIn(config: Config) {
  return needsStandIn(config)
    ? await standIn({ journalEntriesMax: 1 }).start({ isPrivate: true })
    : null
}
