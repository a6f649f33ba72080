import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { Desk } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openPostgres } from '../../packages/core/src/store/postgres/open.ts'
import { purge } from '../../packages/server/src/runtime/store-layers/purge.ts'
import { startPostgres } from '../support/postgres.ts'
import { sqlitePlace } from '../support/sqlite-place.ts'

const { newPath, open } = sqlitePlace()
const guide = join(import.meta.dirname, '..', '..', 'docs', 'guides', 'operating.md')
const WORDS = 'quartzite-and-marmalade'

/** Says the words as often as it takes to fill pages of tables and of the search index. */
async function sayAndPurge(store: Store, beforePurge: () => unknown): Promise<void> {
  const desk = await Desk.open(store)
  for (let turn = 0; turn < 20; turn++) await desk.exchange(`${turn} ${WORDS}`, `${WORDS} ${turn}`)
  await store.search({ sessionId: desk.id, text: 'marmalade', limit: 1, neighbours: 0 })
  await beforePurge()
  const parts = { store, countTokens: (_: unknown, text: string) => text.length }
  const request = { entries: 'all', reason: 'test' } as const
  expect((await purge(parts, desk.id, request)).kind).toBe('purged')
}

function filesWith(words: string, pattern: string): readonly string[] {
  return globSync(pattern).filter((path) => {
    try {
      return statSync(path).isFile() && readFileSync(path).includes(words)
    } catch {
      // Removed meanwhile.
      return false
    }
  })
}

describe('purged words are in no file', () => {
  it('of a SQLite store that was closed, without further commands', async () => {
    const path = newPath()
    const store = await open(path)
    await sayAndPurge(store, () => expect(filesWith(WORDS, `${path}*`)).not.toEqual([]))
    await store.close()
    expect(filesWith(WORDS, `${path}*`)).toEqual([])
  })

  it('of a PostgreSQL server, after the commands in the guide', async (context) => {
    const server = await startPostgres({ own: true })
    if ('problem' in server) return context.skip(server.problem)
    context.onTestFinished(() => server.stop())
    const pattern = join(server.own?.folder ?? '', 'data', '**', '*')
    const store = await openPostgres(server.url)
    await sayAndPurge(store, () => {})
    await store.close()
    // Without the commands they are: erasing a row leaves its bytes behind.
    expect(filesWith(WORDS, pattern)).not.toEqual([])
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    for (const command of commandsIn(readFileSync(guide, 'utf8'))) await client.query(command)
    await client.end()
    expect(filesWith(WORDS, pattern)).toEqual([])
  }, 120_000)
})

function commandsIn(text: string): readonly string[] {
  const [, block = ''] = /```sql\n([\s\S]*?)```/.exec(text) ?? []
  const commands = block.split('\n').filter((line) => line !== '')
  expect(commands.length).toBeGreaterThan(3)
  return commands
}
