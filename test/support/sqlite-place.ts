import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach } from 'vitest'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openSqliteStore, type SqliteOptions } from '../../packages/core/src/store/sqlite/open.ts'

/** SQLite stores in separate files, closed and removed after each test. */
export function sqlitePlace() {
  const opened: Store[] = []
  const folders: string[] = []
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()))
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  return {
    opened,
    newPath(): string {
      const folder = mkdtempSync(join(tmpdir(), 'throughline-sqlite-'))
      folders.push(folder)
      return join(folder, 'store.db')
    },
    async open(path: string, options: Partial<SqliteOptions> = {}): Promise<Store> {
      const store = await openSqliteStore({ path, ...options })
      opened.push(store)
      return store
    },
  }
}

/** Runs SQL on the file as another program would. */
export function byHand(path: string, sql: string): void {
  const database = new DatabaseSync(path, { timeout: 20_000 })
  database.exec(sql)
  database.close()
}

/** What a query that selects `n` finds; 0 if nothing. */
export function count(path: string, sql: string): number {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 20_000 })
  const { n } = (database.prepare(sql).get() ?? {}) as { n?: number }
  database.close()
  return n ?? 0
}
