import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { damageLines } from '../../../../../test/doctor/homes/damage-lines.ts'
import { LATER_DAMAGES } from '../../../../../test/doctor/homes/damaged-sample.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-damages-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.each(Object.entries(LATER_DAMAGES).map(([what, sql]) => [what, 26, sql] as const))(
  'tells and repairs %s in a store of schema %i',
  async (_what, schema, sql) => {
    expect(await damageLines(folder, schema, sql)).toMatchSnapshot()
  },
)
