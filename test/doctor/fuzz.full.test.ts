import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { judgeSeed } from './judges/judge.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-doctor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** CPU enough for seconds; a machine that is shared out among many takes minutes. */
const MS_MAX = 180_000

describe('generated Hermes homes', () => {
  it.each([1, 41])(
    'hold exactly the faults that the doctor finds, and come over whole: 40 from seed %i',
    async (first) => {
      const problems: string[] = []
      for (let seed = first; seed < first + 40; seed++)
        problems.push(...(await judgeSeed(seed, join(folder, 'home'))))
      expect(problems).toEqual([])
    },
    MS_MAX,
  )
})
