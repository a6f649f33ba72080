import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import {
  changedRows,
  DAMAGES,
  DAMAGES_26,
  damagedSample,
  SAMPLE_NOW,
} from '../../../../../test/doctor/homes/damaged-sample.ts'
import { diagnoseHermes } from './diagnose/diagnose.ts'
import { repairHermes } from './repair/repair.ts'
import { renderJson } from './report/json.ts'

/** Stores that Hermes wrote, harmed in one way each: all that is found, and each row that a repair changes. */

const folder = mkdtempSync(join(tmpdir(), 'throughline-damages-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.each([
  ...Object.entries(DAMAGES).flatMap(([what, sql]) => [
    [what, 11, sql] as const,
    [what, 26, sql] as const,
  ]),
  ...Object.entries(DAMAGES_26).map(([what, sql]) => [what, 26, sql] as const),
])('tells and repairs %s in a store of schema %i', async (_what, schema, sql) => {
  const unharmed = await linesOf(schema, '')
  const lines = await linesOf(schema, sql)
  // Each says of the sample store what it says of it unharmed.
  const own = sql === '' ? lines : lines.filter((line) => !unharmed.includes(line))
  expect(own.join('\n')).toMatchSnapshot()
})

const known = new Map<string, readonly string[]>()

/** What is found, the conversations concerned, and each row that differs in the repaired copy. */
async function linesOf(schema: 11 | 26, sql: string): Promise<readonly string[]> {
  const name = `${schema} ${sql}`
  const lines = known.get(name) ?? (await findLines(schema, sql))
  known.set(name, lines)
  return lines
}

async function findLines(schema: 11 | 26, sql: string): Promise<readonly string[]> {
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
