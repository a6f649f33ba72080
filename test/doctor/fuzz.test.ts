import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { judgeSeed } from './judges/judge.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-doctor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Of `npm run test:full` an eighth. */
const HOMES = 10
/** Failed once: between two imports Hermes went over to the other side of a fork. */
const FAILED = [9_200_149]

describe('generated Hermes homes', () => {
  it(`hold exactly the faults that the doctor finds, and come over whole: ${HOMES} of them, and ${FAILED.length} that failed`, async () => {
    const problems: string[] = []
    for (const seed of [...Array.from({ length: HOMES }, (_, index) => index + 1), ...FAILED])
      problems.push(...(await judgeSeed(seed, join(folder, 'home'))))
    expect(problems).toEqual([])
  })
})
