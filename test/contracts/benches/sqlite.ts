import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import type { StoreBench } from '../../../packages/core/src/store/contract-suite/case.ts'
import { openSqliteStore } from '../../../packages/core/src/store/sqlite/open.ts'
import { Writer } from '../../../packages/core/src/store/sqlite/worker/writer.ts'

// Rules are tested here, not the disk: without syncs the whole contract runs in seconds.
const FAST = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** An empty store, and its id. Making some thirty tables takes longer than most cases. */
function makeEmpty(): { readonly file: Buffer; readonly id: string } {
  const folder = mkdtempSync(join(FAST, 'throughline-store-'))
  const path = join(folder, 'store.db')
  new Writer({ path, anchorPath: `${path}.anchor`, busyMs: 1_000, anchorMs: 0 }).close()
  const database = new DatabaseSync(path, { readOnly: true })
  const id = String(database.prepare('select id from store').get()?.['id'])
  database.close()
  const file = readFileSync(path)
  rmSync(folder, { recursive: true })
  return { file, id }
}

let empty: ReturnType<typeof makeEmpty> | undefined

/** Puts a copy of the empty store there, under an id of its own. */
function putEmpty(path: string): void {
  empty ??= makeEmpty()
  const copy = Buffer.from(empty.file)
  copy.write(randomUUID(), copy.indexOf(empty.id))
  writeFileSync(path, copy, { mode: 0o600 })
}

export async function sqliteBench(
  openStore: (options: { readonly path: string }) => Promise<Store> = openSqliteStore,
): Promise<StoreBench & AsyncDisposable & { path: string }> {
  const folder = await mkdtemp(join(FAST, 'throughline-store-'))
  const path = join(folder, 'store.db')
  const opened: Store[] = []
  const open = async (name: string) => {
    const file = join(folder, name)
    if (!existsSync(file)) putEmpty(file)
    const store = await openStore({ path: file })
    opened.push(store)
    return store
  }
  const store = await open('store.db')
  /** A hand that is not the store's, with the guards taken off. */
  const harm = async (sql: string, ...values: (string | number)[]) => {
    const database = new DatabaseSync(path, { timeout: 20_000 })
    database.exec('drop trigger if exists entry_changes_by_erasure_only')
    database.exec('drop trigger if exists entry_is_never_deleted')
    database.prepare(sql).run(...values)
    database.close()
  }
  const blob = 'session = (select n from session where id = ?) and hash = unhex(?)'
  const entry = '(select n << 31 from session where id = ?) | ?'
  return {
    path,
    store,
    sibling: () => open('store.db'),
    fresh: () => open(`fresh-${opened.length}.db`),
    dismiss: async (runner) => {
      const beat = (await store.listRunners()).find(({ id }) => id === runner)?.beat ?? 0
      await store.dismissRunner({ runner, beat })
    },
    harm: {
      changeBody: (id, number) =>
        harm(`update entry set body = '"harm"' where id = ${entry}`, id, number),
      changeHead: (id, number) => harm(`update entry set at = 7 where id = ${entry}`, id, number),
      remove: (id, number) => harm(`delete from entry where id = ${entry}`, id, number),
      swap: async (id, one, other) => {
        const spare = 2_000_000
        await harm(`update entry set id = ${entry} where id = ${entry}`, id, spare, id, one)
        await harm(`update entry set id = ${entry} where id = ${entry}`, id, one, id, other)
        await harm(`update entry set id = ${entry} where id = ${entry}`, id, other, id, spare)
      },
      changeSessionRow: (id) => harm('update session set covers = seen - 1 where id = ?', id),
      empty: (id, number) =>
        harm(`update entry set body = null, salt = null where id = ${entry}`, id, number),
      changeState: (id, state) => harm('update session set state = ? where id = ?', state, id),
      changeAudit: (cursor) => harm('update audit set at = 7 where cursor = ?', cursor),
      changeMail: (id, number) =>
        harm(`update mail set body = '"harm"' where id = ${entry}`, id, number),
      removeMail: (id, number) => harm(`delete from mail where id = ${entry}`, id, number),
      changeBlob: (id, hash) => harm(`update blob set bytes = x'00' where ${blob}`, id, hash),
      removeBlob: (id, hash) => harm(`delete from blob where ${blob}`, id, hash),
      removeSession: (id) => harm('delete from session where id = ?', id),
      cutAudit: () => harm('delete from audit where cursor = (select max(cursor) from audit)'),
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map((each) => each.close()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
