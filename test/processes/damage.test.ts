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
  it('serve what was acknowledged, or tell that it is lost before the next message is taken, also without the record of commits [I26, fault 70]', {
    timeout: KILL_MS_MAX,
  }, async () => {
    const found: DamageEnd[] = []
    for (const seed of SEEDS) {
      found.push(await harmAndServe(left, seed))
      found.push(await harmAndServe(left, seed, { without: 'record' }))
    }
    expect(found.filter(({ silent }) => silent.length > 0)).toEqual([])
  })

  it('lose it without a word where nothing remembers the newest commits: the check is what finds it', {
    timeout: KILL_MS_MAX,
  }, async () => {
    let silent = 0
    for (let seed = 1; silent === 0 && seed <= BLIND_SEEDS_MAX; seed++) {
      silent += (await harmAndServe(left, seed, { without: 'memory' })).silent.length
    }
    expect(silent).toBeGreaterThan(0)
  })
})
