import { setImmediate as breathe } from 'node:timers/promises'
import type { SessionId } from '#core/base/ids'
import type { ReadStore, Store } from '#core/store/contract'
import type { Limits, RunnerRow } from '#core/store/tables/rows'
import { ImportFailedError } from '../../errors.ts'
import {
  addUp,
  type ConversationReport,
  type ImportReport,
  type ProfileReport,
  type UnreadProfile,
} from '../../import-report.ts'
import { type PartStager, SessionImporter } from '../../session-importer.ts'
import { RouteOwners } from '../diagnose/route-owners.ts'
import { readRouting } from '../diagnose/routes.ts'
import { HermesStoreError } from '../read/errors.ts'
import { findProfiles, type ProfileFiles } from '../read/home.ts'
import { openReadOnly } from '../read/open.ts'
import { rawRows, rawSessions } from '../read/raw-rows.ts'
import { readSystemPrompts } from '../read/rows.ts'
import { readSchema } from '../read/schema.ts'
import { importChain } from './chain.ts'
import { findLeftBehind, importMemories } from './home-files.ts'
import { addKinds, NO_KINDS } from './kinds.ts'
import { readChains } from './read-chains.ts'
import { importRoutes } from './routes.ts'
import { translateSettings } from './settings.ts'

/**
 * Imports the conversations of a Hermes home, which is only read. Every conversation becomes one
 * session under the id of its first one; a second run imports only what is new.
 */
export interface ImportHermes extends ImportTarget {
  readonly path: string
  /** Null: the profile's own name. */
  readonly agent: string | null
  readonly withMemories: boolean
  /** `CONTEXT_COMPRESSION_PROMPT`, if the environment has it. */
  readonly compressionPrompt?: string
  readonly onProgress?: (progress: ImportProgress) => void
}

export interface ImportTarget {
  readonly limits: Limits
  /** Absent: images stay in the transcript. */
  readonly stageParts?: PartStager
  readonly host: Pick<RunnerRow, 'boot' | 'process'>
  /** Whether the process has certainly ended; absent: no process has. */
  readonly isGone?: (runner: RunnerRow) => boolean
  /** The target store; with `isDryRun` it is only read, and may be absent. */
  readonly target:
    | { readonly isDryRun: false; readonly store: Store }
    | { readonly isDryRun: true; readonly reads: ReadStore | null }
}

export type ImportProgress =
  | {
      readonly stage: 'reading'
      readonly profile: string
      readonly rows: number
      readonly of: number
    }
  | {
      readonly stage: 'bringing'
      readonly profile: string
      readonly rows: number
      readonly of: number
    }

export async function importHermes(request: ImportHermes): Promise<ImportReport> {
  const found = await findProfiles(request.path)
  if (request.agent !== null && found.length > 1) {
    throw new HermesStoreError({
      path: request.path,
      verdict: 'foreign',
      problem:
        `it holds ${found.length} profiles, and --agent names one agent. ` +
        'Name the folder of the profile that is to become this agent.',
    })
  }
  const profiles: ProfileReport[] = []
  const unread: UnreadProfile[] = []
  const owners = new RouteOwners(found)
  const wouldBe = new Map<SessionId, number>()
  for (const profile of found) {
    try {
      profiles.push(await importProfile(profile, { ...request, owners, wouldBe }))
    } catch (error) {
      // One damaged store does not keep the other agents' conversations from being imported.
      if (!(error instanceof HermesStoreError) || found.length === 1) throw error
      unread.push({ name: profile.name, store: profile.store, problem: error.facts.problem })
    }
  }
  const { isDryRun } = request.target
  const { path } = request
  return { format: 'throughline-import', version: 1, path, isDryRun, profiles, unread }
}

async function importProfile(
  profile: ProfileFiles,
  request: ImportHermes & {
    readonly owners: RouteOwners
    readonly wouldBe: Map<SessionId, number>
  },
): Promise<ProfileReport> {
  const path = profile.store
  const { target, owners, wouldBe, onProgress } = request
  const agent = request.agent ?? profile.name
  const opened = await openReadOnly(path)
  try {
    const { database } = opened
    const schema = readSchema(database, path)
    const of = Number(database.prepare('select count(*) as count from "messages"').get()?.['count'])
    const { chains, rowIds } = await readChains({
      ...{ database, schema, path, rowCount: of },
      onRows: (rows) => onProgress?.({ stage: 'reading', profile: profile.name, rows, of }),
    })
    const reads = target.isDryRun ? target.reads : target.store
    const store = target.isDryRun ? null : target.store
    const importer = new SessionImporter({
      reads,
      store,
      host: request.host,
      isGone: request.isGone ?? (() => false),
      stageParts: request.stageParts ?? null,
      wouldBe,
    })
    const conversations: ConversationReport[] = []
    const prompts = readSystemPrompts(database, schema)
    const rows = rawRows(database, schema)
    const sessionRow = rawSessions(database, schema)
    let brought = 0
    try {
      for (const chain of chains) {
        const imported = await importChain(chain, {
          ...{ importer, agent, prompts, store, rows, sessionRow, isExport: schema.isExport },
          rowIds: (id) => rowIds.of(id),
          limits: request.limits,
          onRow: () => {
            brought += 1
            if (brought % 1_000 === 0) {
              onProgress?.({ stage: 'bringing', profile: profile.name, rows: brought, of })
            }
          },
        })
        conversations.push(imported)
        await breathe()
      }
    } finally {
      await importer.close()
    }
    const { routes: found, torn } = await readRouting(database, schema, profile)
    const held = new Set(conversations.flatMap(({ ids }) => ids))
    const routes = owners.of(profile, found, (id) => held.has(id))
    const hasChanged = await opened.hasChanged()
    const memories = request.withMemories ? await importMemories(profile, agent, reads, store) : []
    return {
      ...{ name: profile.name, store: path, unit: 'row', agent },
      remarks: [
        ...opened.remarks,
        ...schema.remarks,
        ...(hasChanged ? ['Hermes wrote to it meanwhile; run the import again.'] : []),
      ],
      conversations,
      rows: { ...addUp(conversations.map((one) => one.rows)), in: of },
      kinds: {
        given: addKinds(conversations.map(({ kinds }) => kinds?.given ?? NO_KINDS)),
        made: addKinds(conversations.map(({ kinds }) => kinds?.made ?? NO_KINDS)),
      },
      routes: await importRoutes(routes, { agent, torn, conversations, store, reads }),
      ...(await translateSettings(profile, agent, request.compressionPrompt)),
      memories,
      leftBehind: await findLeftBehind(profile, request.withMemories),
    }
  } catch (error) {
    throw error instanceof ImportFailedError ? error : await opened.judge(error)
  } finally {
    await opened.close()
  }
}
