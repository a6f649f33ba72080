import { isGone } from '#core/base/host'
import type { Runner } from '#core/session/runner/runner'
import type { Edge } from '#core/session/sender'
import { LIST_MAX } from '#core/store/bounds'
import type { Reads } from '#core/store/contract'
import type { StoreError } from '#core/store/errors'

/** The health of a runtime and of what it shares with other processes, for operators. */
export interface Health {
  readonly isReady: boolean
  /** Why it is not ready: a code of the store, or `no-lease`. */
  readonly reason: string | null
  readonly store: { readonly schema: number; readonly commits: number }
  readonly runner: {
    readonly id: string | null
    readonly holdsLease: boolean
    readonly sessions: number
  }
  /**
   * Processes that use the store. Dead ones on this host are left out; on other hosts they cannot
   * be detected.
   */
  readonly runners: readonly {
    readonly id: string
    readonly process: number
    readonly startedAt: number
    readonly beat: number
    readonly leaseMs: number
  }[]
  readonly routes: readonly RouteHealth[]
  /**
   * Connections to model servers: opened so far, open now, dropped because they were broken or too
   * old.
   */
  readonly connections: {
    readonly opened: number
    readonly open: number
    readonly evicted: number
  }
  readonly edges: readonly {
    readonly name: string
    readonly waiting: number
    readonly dead: number
  }[]
  readonly problems: readonly string[]
}
export interface RouteHealth {
  readonly route: string
  /** The purpose of its calls: `turn`, `compaction`, `title`. */
  readonly task: string
  readonly model: string
  /** Tasks share a breaker; `failing` is for turns, whose sessions each try again by themselves. */
  readonly state: 'closed' | 'open' | 'half-open' | 'failing'
  /** In a row, up to the newest call. */
  readonly failures: number
  readonly retryAt: number | null
  /** In the last hour, answered since or not. */
  readonly failuresInHour: number
  /** Of the newest failure and of the newest answer in the last hour; null: there is none. */
  readonly failedAt: number | null
  readonly answeredAt: number | null
}

export async function readHealth(parts: {
  readonly store: Pick<Reads, 'readStore' | 'listRunners' | 'listReplies'>
  readonly runner: Pick<Runner, 'id' | 'mayAct' | 'sessions'> | null
  readonly edges: readonly Edge[]
  readonly models: {
    health(): Promise<readonly RouteHealth[]>
    readonly connections: Health['connections']
  }
  /** Why the store cannot be written; absent if it can. */
  readonly storeError: StoreError | null
  /** Other problems that need attention. */
  readonly problems: readonly string[]
}): Promise<Health> {
  const { store, runner, edges, models, storeError } = parts
  const { schema, commits } = await store.readStore()
  const runners = (await store.listRunners()).filter((row) => !isGone(row))
  const waiting = await store.listReplies({ state: 'waiting', limit: LIST_MAX })
  const dead = await store.listReplies({ state: 'dead', limit: LIST_MAX })
  const holdsLease = runner?.mayAct() ?? false
  const reason = storeError?.code ?? (runner === null || holdsLease ? null : 'no-lease')
  return {
    isReady: reason === null,
    reason,
    store: { schema, commits },
    runner: { id: runner?.id ?? null, holdsLease, sessions: runner?.sessions.length ?? 0 },
    runners: runners.map(({ id, process, startedAt, beat, leaseMs }) => ({
      ...{ id, process, startedAt, beat, leaseMs },
    })),
    routes: await models.health(),
    connections: models.connections,
    edges: edges.map(({ name }) => ({
      name,
      waiting: waiting.filter((row) => row.edge === name).length,
      dead: dead.filter((row) => row.edge === name).length,
    })),
    problems: [
      ...(storeError === null ? [] : [storeError.message]),
      ...(dead.length === 0 ? [] : [`${dead.length} replies could not be sent`]),
      ...edges.flatMap((edge) => edge.problems?.() ?? []),
      ...parts.problems,
    ],
  }
}
