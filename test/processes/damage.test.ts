import { rmSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { type DamageEnd, harmAndServe, killWriter } from './damage.ts'

const SEEDS = [1, 2, 3, 4, 5, 6]
/** About one place in ten loses something; the search ends at the first that does. */
const BLIND_SEEDS_MAX = 150
/** A process starts, talks and is killed, possibly on a busy machine. */
const KILL_MS_MAX = 120_000

const left = await killWriter(7)
afterAll(() => rmSync(left.folder, { recursive: true, force: true }))

describe('files of a killed process, cut or changed at random places', () => {
  it('serve everything acknowledged, or report the loss before the next message is accepted, even without the record of commits [I26, fault 70]', {
    timeout: KILL_MS_MAX,
  }, async () => {
    const found: DamageEnd[] = []
    for (const seed of SEEDS) {
      found.push(await harmAndServe(left, seed))
      found.push(await harmAndServe(left, seed, { without: 'record' }))
    }
    expect(found.filter(({ silent }) => silent.length > 0)).toEqual([])
  })

  it('lose it silently if nothing records the newest commits, and the check of this test detects that', {
    timeout: KILL_MS_MAX,
  }, async () => {
    let silent = 0
    for (let seed = 1; silent === 0 && seed <= BLIND_SEEDS_MAX; seed++) {
      silent += (await harmAndServe(left, seed, { without: 'memory' })).silent.length
    }
    expect(silent).toBeGreaterThan(0)
  })
})
