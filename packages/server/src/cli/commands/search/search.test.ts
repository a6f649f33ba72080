import { describe, expect, it } from 'vitest'
import type { AdoptedEntry } from '#core/store/adoption'
import { loadSession } from '../../../../../../bench/recall/load.ts'
import { runCli } from '../../../../../../test/support/run-cli.ts'
import { byHand, sqlitePlace } from '../../../../../../test/support/sqlite-place.ts'

const { newPath, open } = sqlitePlace()

/** A store with so many entries that name an orchid. */
async function storeOf(count: number): Promise<string> {
  const path = newPath()
  const store = await open(path)
  await loadSession(store, 'garden', orchids(count))
  await store.close()
  return path
}

function orchids(count: number): AdoptedEntry[] {
  return Array.from({ length: count }, (_, at) => ({
    ...{ kind: 'assistant', calls: [], row: null, at, tokens: 1 },
    body: { role: 'assistant', parts: [{ type: 'text', text: `orchid ${at}` }] },
  }))
}

describe('throughline search', () => {
  it('says how many more match, and how to see them', async () => {
    const path = await storeOf(30)
    const search = (...more: string[]) => runCli(['search', 'orchids', '--store', path, ...more])
    const first = await search()
    expect(first.stdout.match(/^garden #/gm)).toHaveLength(20)
    expect(first.stderr).toContain('10 more match: --skip 20 shows the next.')
    const last = await search('--skip', '20')
    expect(last.stdout.match(/^garden #/gm)).toHaveLength(10)
    expect(last.stderr).not.toContain('more match')
  })

  it('searches the sessions of the named agent only', async () => {
    const path = newPath()
    const store = await open(path)
    await loadSession(store, 'garden', orchids(1), 'ada')
    await loadSession(store, 'meadow', orchids(1), 'bob')
    await store.close()
    const search = async (...more: string[]) => {
      const { stdout } = await runCli(['search', 'orchids', '--store', path, ...more])
      return (stdout.match(/^\w+(?= #)/gm) ?? []).sort()
    }
    expect(await search()).toEqual(['garden', 'meadow'])
    expect(await search('--agent', 'bob')).toEqual(['meadow'])
    expect(await search('--agent', 'eve')).toEqual([])
  })

  it('says what it did not search, because it is not indexed yet', async () => {
    const path = await storeOf(1_200)
    byHand(path, 'delete from word_page; delete from word_total; delete from passage_block')
    byHand(path, `delete from indexed; update word_runs set runs = '[]'`)
    byHand(path, 'insert or ignore into unindexed select n << 31 | tail from session')
    const { stderr } = await runCli(['search', 'orchids', '--store', path])
    expect(stderr).toMatch(/\d+ entries are not indexed yet and were not searched\./)
  })
})
