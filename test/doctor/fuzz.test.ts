import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { judgeSeed } from './judges/judge.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-doctor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Of `npm run test:full` an eighth. */
const HOMES = 10

describe('generated Hermes homes', () => {
  it(`hold exactly the faults that the doctor finds, and come over whole: ${HOMES} of them`, async () => {
    const problems: string[] = []
    for (let seed = 1; seed <= HOMES; seed++)
      problems.push(...(await judgeSeed(seed, join(folder, 'home'))))
    expect(problems).toEqual([])
  })
})
