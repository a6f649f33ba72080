import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { judgeSeed } from './judge.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-doctor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('generated Hermes homes', () => {
  it('hold exactly the faults that the doctor finds, and come over whole, 200 of them', async () => {
    const problems: string[] = []
    for (let seed = 1; seed <= 200; seed++)
      problems.push(...(await judgeSeed(seed, join(folder, 'home'))))
    expect(problems).toEqual([])
  })
})
