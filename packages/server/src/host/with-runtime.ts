import type { ReadStore, Store } from '#core/store/contract'
import { leftIn } from '../migration/leave/left-sessions.ts'
import { type EmbeddingRoute, openEmbedder } from '../model/embeddings/embedder.ts'
import type { SpendLimits } from '../runtime/models/spend-caps.ts'
import { openRuntime } from '../runtime/open-runtime.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { StoreFlags } from './flags.ts'
import { leftFolder } from './operating-system.ts'
import { configuredSpend, withStore, withStoreToRead } from './store-selection.ts'

/**
 * Opens the store that a command acts on, and a runtime that runs no sessions, because the process
 * that serves the store does that. Always closes both.
 */
export interface StoreRuntime {
  readonly store: Store
  readonly runtime: Runtime
}

export type ReadAction = (opened: {
  readonly store: ReadStore
  readonly runtime: Runtime
  /** The commits that the store has lost; null: none. */
  readonly lost: string | null
}) => Promise<number>

export type StoreAction = (opened: StoreRuntime) => Promise<number>

export async function withStoreRuntime(
  flags: StoreFlags,
  act: StoreAction,
  { knowsSpend, ...options }: { readonly mayMake?: boolean } & Pick<Knowledge, 'knowsSpend'> = {},
): Promise<number> {
  const spend = knowsSpend === true ? await configuredSpend(flags) : {}
  return await withStore(flags, async (store) => await overRuntime(store, act, { spend }), options)
}

/** What a command knows beyond the store. */
interface Knowledge {
  /** Which turns are paused at a limit of the configuration. */
  readonly knowsSpend?: true
  /** How to search by meaning. */
  readonly embeddings?: EmbeddingRoute | undefined
}

/** For commands that only read: writes no byte, even while other processes write. */
export async function withReadRuntime(
  flags: StoreFlags,
  act: ReadAction,
  { knowsSpend, embeddings }: Knowledge = {},
): Promise<number> {
  const spend = knowsSpend === true ? await configuredSpend(flags) : {}
  return await withStoreToRead(flags, async (store, lost) => {
    // It lacks the methods that write; readers never call them.
    const writable = store as unknown as Store
    return await overRuntime(writable, (opened) => act({ ...opened, lost }), {
      ...{ spend, embeddings },
    })
  })
}

async function overRuntime(
  store: Store,
  act: StoreAction,
  known: { readonly spend: SpendLimits; readonly embeddings?: EmbeddingRoute | undefined },
): Promise<number> {
  const { spend, embeddings } = known
  const embedder = embeddings && openEmbedder(embeddings, process.env)
  const runtime = await openRuntime({
    ...{ store, agents: [], runs: false, auxiliary: { spend }, leftOf: leftIn(leftFolder) },
    ...(embedder !== undefined && { embedder }),
  })
  try {
    return await act({ store, runtime })
  } finally {
    await runtime.close()
    await embedder?.close()
  }
}

/** For commands that need the agents and may call their models. */
export async function withAgentRuntime(
  flags: StoreFlags,
  act: StoreAction,
  { mayMake = false }: { readonly mayMake?: boolean } = {},
): Promise<number> {
  const { openHost } = await import('./open-host.ts')
  const host = await openHost(flags, { runs: false, mayMake })
  return await act(host).finally(() => host.close())
}
