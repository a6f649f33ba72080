import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { sqlitePlace } from '../../../../../test/support/sqlite-place.ts'
import { leastOf } from '../../../../../test/support/timing.ts'
import { LIMITS, StoreFixture, said } from '../contract-suite/bench.ts'

/** What other programs do to a store's files: lock them, open and close them, copy some of them. */
const { newPath, open } = sqlitePlace()

describe('other programs', () => {
  it('a store with the current schema opens while another process holds the write lock', async () => {
    const path = newPath()
    await (await open(path, { anchorMs: 0 })).close()
    const other = new DatabaseSync(path)
    other.exec('begin immediate')
    const measure = async () => {
      const started = performance.now()
      const store = await open(path, { anchorMs: 0 })
      expect(await store.listRunners()).toEqual([])
      return performance.now() - started
    }
    expect(await leastOf(measure, { below: 4_000 })).toBeLessThan(4_000)
    other.exec('rollback')
    other.close()
  })

  it('a reader that never ends lets the WAL grow but blocks nothing, and the WAL shrinks afterwards [fault 66]', async () => {
    const path = newPath()
    const store = await open(path, { anchorMs: 0 })
    const fixture = await StoreFixture.open(store, { limits: { ...LIMITS, sourceMailMax: 1_000 } })
    const reader = new DatabaseSync(path, { readOnly: true })
    const rows = reader.prepare('select id from session union all select id from runner').iterate()
    rows.next()
    const body = 'x'.repeat(3_000_000)
    for (let index = 0; index < 13; index++) await fixture.admit(body)
    const wal = () => statSync(`${path}-wal`).size
    expect(wal()).toBeGreaterThan(32 * 1024 * 1024)
    rows.return?.()
    reader.close()
    const end = performance.now() + 10_000
    while (wal() > 17 * 1024 * 1024 && performance.now() < end) {
      await fixture.admit('small')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(wal()).toBeLessThanOrEqual(17 * 1024 * 1024)
  })

  it('after its own process reads its files and another one closes, nothing more is acknowledged [I26, fault 68]', async () => {
    const path = newPath()
    const store = await open(path, { anchorMs: 0 })
    const fixture = await StoreFixture.open(store)
    await fixture.admit(said('before'))
    // Reading both drops this process's locks on them, including SQLite's.
    readFileSync(path)
    readFileSync(`${path}-shm`)
    const sibling = `
      const { DatabaseSync } = require('node:sqlite')
      const database = new DatabaseSync(process.argv[1], { timeout: 20_000 })
      database.exec("update store set id = id")
      database.close()`
    execFileSync(process.execPath, ['-e', sibling, path])
    await expect(fixture.tryAdmit(said('after'))).rejects.toMatchObject({ code: 'store-damaged' })
    await expect(fixture.tryAdmit(said('again'))).rejects.toMatchObject({ code: 'store-damaged' })
  })

  it('a copy restored without its WAL is noticed by its anchor [I26, fault 74]', async () => {
    const path = newPath()
    const store = await open(path, { anchorMs: 0 })
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('hello', 'hi')
    const copy = newPath()
    // In a separate process, which has no locks to lose.
    for (const end of ['', '.anchor', '.commits'])
      execFileSync('cp', [`${path}${end}`, `${copy}${end}`])
    const opening = open(copy)
    const restored = await opening.catch((error: { code: string }) => error)
    if ('code' in restored) expect(restored.code).toMatch(/^store-(damaged|refused)$/)
    else await expect(StoreFixture.open(restored)).rejects.toMatchObject({ code: 'store-damaged' })
  })
})
