import { dirname, join } from 'node:path'
import { diagnoseHermes } from '../../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { repairHermes } from '../../../packages/server/src/migration/hermes/repair/repair.ts'
import { renderJson } from '../../../packages/server/src/migration/hermes/report/json.ts'
import { changedRows, damagedSample, SAMPLE_NOW } from './damaged-sample.ts'

type Schema = 11 | 26

const known = new Map<Schema, Promise<readonly string[]>>()

/**
 * What is told of a harmed sample store that is not told of it unharmed: the findings, the
 * conversations concerned, and each row that differs in the repaired copy.
 */
export async function damageLines(folder: string, schema: Schema, sql: string): Promise<string> {
  const lines = await linesOf(folder, schema, sql)
  if (sql === '') return lines.join('\n')
  const unharmed = known.get(schema) ?? linesOf(folder, schema, '')
  known.set(schema, unharmed)
  const usual = await unharmed
  return lines.filter((line) => !usual.includes(line)).join('\n')
}

async function linesOf(folder: string, schema: Schema, sql: string): Promise<readonly string[]> {
  const path = damagedSample(schema, folder, sql)
  const to = join(dirname(path), 'repaired.db')
  const told = await diagnoseHermes(path, { now: SAMPLE_NOW })
  const repaired = await repairHermes({ path, to, now: SAMPLE_NOW }).then(
    ({ changes, left, ...rest }) => [rest, ...changes, ...left, ...changedRows(path, to)],
    (error: Error) => [`${error.name}: ${error.message}`],
  )
  const json = JSON.parse([...renderJson(told)].join('')) as { profiles: Record<string, unknown>[] }
  const found = json.profiles.flatMap(({ findings, conversations, ...rest }) => [
    rest,
    ...(findings as readonly object[]),
    ...(conversations as readonly { readonly timeline: readonly object[] }[]).flatMap(
      ({ timeline, ...conversation }) => [conversation, ...timeline],
    ),
  ])
  return [...found, ...repaired].map((line) =>
    (typeof line === 'string' ? line : JSON.stringify(line)).replaceAll(dirname(path), 'HOME'),
  )
}
