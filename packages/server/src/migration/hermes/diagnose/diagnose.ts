import { dirname, resolve, sep } from 'node:path'
import { findAll } from '../findings/find-all.ts'
import { findZone, gatherConversations } from '../read/conversations.ts'
import { HermesStoreError } from '../read/errors.ts'
import { findProfiles, type ProfileFiles } from '../read/home.ts'
import { readLogs } from '../read/log.ts'
import { openReadOnly, translate } from '../read/open.ts'
import type { Diagnosis, HermesConversation, ProfileDiagnosis, StoreFacts } from './diagnosis.ts'
import { type ExaminedProfile, examineOpened } from './examine.ts'
import { RouteOwners } from './route-owners.ts'

/**
 * Examines a Hermes home, a bare `state.db`, or logs alone (`path` null). It only reads. A file
 * that cannot be read becomes part of the diagnosis, and one bad profile does not stop the others
 * from being examined. Throws `HermesStoreError` only if there is nothing to examine.
 */
export interface DiagnoseOptions {
  readonly logs?: readonly string[]
  readonly onProgress?: (progress: DiagnoseProgress) => void
  /** Epoch milliseconds; locks and pauses are compared with it. */
  readonly now?: number
}

export type DiagnoseProgress =
  | { readonly stage: 'log'; readonly path: string; readonly bytes: number }
  | { readonly stage: 'rows'; readonly profile: string; readonly rows: number; readonly of: number }

export async function diagnoseHermes(
  path: string | null,
  options: DiagnoseOptions = {},
): Promise<Diagnosis> {
  const now = options.now ?? Date.now()
  const found: readonly (ProfileFiles | null)[] = path === null ? [null] : await findProfiles(path)
  const given = shareOut(options.logs ?? [], found)
  const profiles: ProfileDiagnosis[] = []
  const owners = new RouteOwners(found.filter((profile) => profile !== null))
  for (const [index, profile] of found.entries()) {
    const logPaths = [...new Set([...(profile?.logs ?? []), ...(given[index] ?? [])])]
    profiles.push(await diagnoseProfile({ profile, logPaths, owners, now: now / 1_000, options }))
  }
  return {
    format: 'throughline-doctor-hermes',
    version: 1,
    path,
    examinedAt: new Date(now).toISOString(),
    profiles,
  }
}

/** A log belongs to the profile whose folder contains it, otherwise to the first one. */
function shareOut(
  logs: readonly string[],
  profiles: readonly (ProfileFiles | null)[],
): readonly (readonly string[])[] {
  const shares: string[][] = profiles.map(() => [])
  for (const log of logs) {
    const depths = profiles.map((profile) => {
      const folder = profile === null ? null : `${dirname(resolve(profile.store))}${sep}`
      return folder !== null && resolve(log).startsWith(folder) ? folder.length : 0
    })
    shares[depths.indexOf(Math.max(...depths))]?.push(log)
  }
  return shares
}

interface ProfileRequest {
  readonly profile: ProfileFiles | null
  readonly logPaths: readonly string[]
  readonly owners: RouteOwners
  readonly now: number
  readonly options: DiagnoseOptions
}

async function diagnoseProfile(request: ProfileRequest): Promise<ProfileDiagnosis> {
  const { profile, logPaths, owners, now, options } = request
  const log = await readLogs(logPaths, (path, bytes) =>
    options.onProgress?.({ stage: 'log', path, bytes }),
  )
  const report = (store: StoreFacts, seen: ExaminedProfile | null): ProfileDiagnosis => {
    const { findings, remarks } = findAll({ seen, events: log.events, now })
    const { survey = null, lineage = null, read = () => null } = seen ?? {}
    const zoneSeconds = survey === null ? null : findZone(survey)
    const conversations = gatherConversations({ survey, lineage, findings, zoneSeconds, read })
    return {
      name: profile?.name ?? 'logs',
      store,
      logs: { paths: logPaths, lines: log.lines },
      zoneSeconds,
      remarks: [...(seen?.remarks ?? []), ...remarks, ...log.remarks],
      findings,
      conversations,
      conversationsHealthy: countHealthy(seen, conversations),
    }
  }
  if (profile === null) return report({ kind: 'none' }, null)
  return await reportStore(profile, options, (store, seen) => {
    if (seen === null) return report(store, null)
    const routes = owners.of(profile, seen.routes, (id) => seen.survey.sessions.has(id))
    return report(store, { ...seen, routes })
  })
}

function countHealthy(
  seen: ExaminedProfile | null,
  reported: readonly HermesConversation[],
): number {
  if (seen === null) return 0
  const roots = new Set([...seen.survey.sessions.keys()].map((id) => seen.lineage.rootOf(id)))
  for (const { rootId } of reported) roots.delete(rootId)
  return roots.size
}

/** Called while the store is open, because findings quote its rows. */
async function reportStore(
  profile: ProfileFiles,
  { onProgress }: DiagnoseOptions,
  report: (store: StoreFacts, seen: ExaminedProfile | null) => ProfileDiagnosis,
): Promise<ProfileDiagnosis> {
  const path = profile.store
  try {
    const opened = await openReadOnly(path)
    try {
      const seen = await examineOpened(opened, profile, (rows, of) =>
        onProgress?.({ stage: 'rows', profile: profile.name, rows, of }),
      )
      const { sessions, rows, liveRows } = seen.survey
      const counts = { sessions: sessions.size, rows, liveRows }
      return report({ kind: 'read', path, schemaVersion: seen.schema.version, ...counts }, seen)
    } catch (error) {
      throw await opened.judge(error)
    } finally {
      await opened.close()
    }
  } catch (error) {
    const known = translate(error, path)
    if (!(known instanceof HermesStoreError)) throw known
    const { verdict, problem } = known.facts
    return report({ kind: 'unreadable', path: known.facts.path, verdict, problem }, null)
  }
}
