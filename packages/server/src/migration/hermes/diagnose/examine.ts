import { setImmediate as breathe } from 'node:timers/promises'
import { followRule } from '../findings/follow.ts'
import { type Lineage, traceLineage } from '../findings/lineage.ts'
import type { ProfileFiles } from '../read/home.ts'
import type { OpenedStore } from '../read/open.ts'
import {
  type Hold,
  messageReader,
  type ReadRow,
  readHygiene,
  readLocks,
  readSessions,
  scanMessages,
} from '../read/rows.ts'
import { type HermesSchema, readSchema } from '../read/schema.ts'
import { type HermesRoute, readRouting } from './routes.ts'
import { type Condition, readCondition } from './store-condition.ts'
import { type Survey, Surveyor } from './survey.ts'

/** The result of one pass over a store, and the only input of the detectors and the repair. */
export interface ExaminedProfile {
  readonly schema: HermesSchema
  /** Valid only while the store is open. */
  readonly read: ReadRow
  readonly survey: Survey
  readonly lineage: Lineage
  readonly routes: readonly HermesRoute[]
  readonly condition: Condition
  readonly locks: readonly Hold[]
  readonly hygiene: ReadonlyMap<string, number>
  readonly remarks: readonly string[]
}

const ROWS_PER_BREATH = 10_000

export async function examineOpened(
  opened: OpenedStore,
  profile: ProfileFiles,
  onRows?: (rows: number, of: number) => void,
): Promise<ExaminedProfile> {
  const path = profile.store
  const { database } = opened
  const schema = readSchema(database, path)
  const surveyor = new Surveyor(readSessions(database, schema))
  const of = Number(
    database.prepare('select cast(max(id) as real) as id from "messages"').get()?.['id'] ?? 0,
  )
  let rows = 0
  for (const row of scanMessages(database, schema, path)) {
    surveyor.take(row)
    rows += 1
    if (rows % ROWS_PER_BREATH === 0) {
      onRows?.(rows, of)
      await breathe()
    }
  }
  const survey = surveyor.end()
  const { routes, torn } = await readRouting(database, schema, profile)
  const examined: ExaminedProfile = {
    ...{ schema, survey, lineage: traceLineage({ ...survey, rule: followRule(schema) }) },
    read: messageReader(database, schema),
    routes,
    condition: readCondition(opened, schema, torn),
    locks: readLocks(database, schema),
    hygiene: readHygiene(database, schema),
    remarks: [...opened.remarks, ...schema.remarks],
  }
  if (!(await opened.hasChanged())) return examined
  const remark = 'Hermes wrote to the store while it was read; examine it again when it is idle.'
  return { ...examined, remarks: [...examined.remarks, remark] }
}
