import { existsSync, rmSync } from 'node:fs'
import { requireConfig } from '../runtime/config/load.ts'
import { openRuntime } from '../runtime/open-runtime.ts'
import { isServer, openForReading, openStore } from '../runtime/open-store.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { ReadStore, Store } from '../store/contract.ts'
import { besideStore, checkExists, loadRequest, openHost } from './open-host.ts'
import type { PlaceFlags } from './place-options.ts'

/**
 * The store that a command acts on, and a runtime over it that runs no session: whoever serves the
 * store does that. Closed whatever happens.
 */
export interface Place {
  readonly store: Store
  readonly runtime: Runtime
}

export type ReadAct = (place: {
  readonly store: ReadStore
  readonly runtime: Runtime
}) => Promise<number>

export type Act = (place: Place) => Promise<number>

export async function openPlace(
  flags: PlaceFlags,
  act: Act,
  { mayMake = false }: { readonly mayMake?: boolean } = {},
): Promise<number> {
  const where = storeOf(flags)
  if (!mayMake) checkExists(where.url)
  const isNew = !isServer(where.url) && !existsSync(where.url)
  const store = await openStore(where, process.env, besideStore(where.url))
  let isKept = !isNew
  // A store keeps no process alive by itself; a command that waits for an answer must stay.
  const staying = setInterval(() => {}, STAY_MS)
  try {
    const runtime = await openRuntime({ store, agents: [], runs: false })
    const code = await act({ store, runtime }).finally(() => runtime.close())
    isKept = true
    return code
  } catch (error) {
    // What cannot be asked now may hold something.
    isKept ||= await isFilled(store).catch(() => true)
    throw error
  } finally {
    clearInterval(staying)
    await store.close()
    if (!isKept) removeStore(where.url)
  }
}

async function isFilled(store: Store): Promise<boolean> {
  const { commits } = await store.readStore()
  return commits > 0 || (await store.listTokens()).length > 0
}

/** A command that came to nothing leaves no empty store behind that somebody would wonder about. */
function removeStore(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
}

const STAY_MS = 60_000

/** For commands that only read: not a byte is written, also beside others who write. */
export async function readPlace(flags: PlaceFlags, act: ReadAct): Promise<number> {
  const where = storeOf(flags)
  checkExists(where.url)
  const store = await openForReading(where, process.env)
  try {
    // It lacks the verbs that write; nothing that only reads calls them.
    const verbs = store as unknown as Store
    const runtime = await openRuntime({ store: verbs, agents: [], runs: false })
    return await act({ store, runtime }).finally(() => runtime.close())
  } finally {
    await store.close()
  }
}

/** For commands that need to know the agents, and perhaps ask their models. */
export async function openPlaceWithAgents(
  flags: PlaceFlags,
  act: Act,
  { mayMake = false }: { readonly mayMake?: boolean } = {},
): Promise<number> {
  const host = await openHost(flags, { runs: false, mayMake })
  return await act(host).finally(() => host.close())
}

/** Named outright, it needs no configuration: one that is broken keeps nobody from looking. */
export function storeOf(flags: PlaceFlags): { readonly url: string } {
  if (flags.store !== undefined) return { url: flags.store }
  return requireConfig(loadRequest(flags)).config.store
}

/** The agents that a configuration names; null where it cannot be read. */
export function configuredAgents(flags: PlaceFlags): readonly string[] | null {
  try {
    return Object.keys(requireConfig(loadRequest(flags)).config.agents)
  } catch {
    return null
  }
}
