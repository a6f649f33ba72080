import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../open.ts'
import { refuseForeignFiles } from '../store-file.ts'

const OTHER = 65_533
const whyNot = process.geteuid?.() === 0 ? null : 'not run: only root can be two users'
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

async function storeIn(mode: number) {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-all-'))
  folders.push(folder)
  chmodSync(folder, mode)
  const path = join(folder, 'store.db')
  const open = () => openSqliteStore({ path })
  await (await open()).close()
  return { folder, path, open }
}

describe('a store in a folder of all users', () => {
  it('holds the names of the files beside it before SQLite looks at them', async () => {
    const { path, open } = await storeIn(0o1777)
    const store = await open()
    try {
      for (const end of ['-journal', '-wal', '-shm']) {
        const { uid, mode } = statSync(`${path}${end}`)
        expect({ uid, mode: mode & 0o777 }).toEqual({ uid: process.geteuid?.(), mode: 0o600 })
      }
      expect(statSync(`${path}-journal`).size).toBe(0)
    } finally {
      await store.close()
    }
    // And it opens with those that are left.
    await (await open()).close()
  })

  it('is emptied by no journal of another user, who puts it there at the last moment', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { folder, path, open } = await storeIn(0o1777)
    const { size } = statSync(path)
    await (await open()).close()
    const planted = join(folder, 'planted')
    writeFileSync(planted, emptyingJournal(), { mode: 0o666 })
    chownSync(planted, OTHER, OTHER)
    const asOther = { uid: OTHER, gid: OTHER, stdio: 'ignore' } as const
    expect(() => execFileSync('mv', ['-f', planted, `${path}-journal`], asOther)).toThrow()
    await (await open()).close()
    expect(statSync(path).size).toBeGreaterThanOrEqual(size)
  })

  it('is refused if its WAL was taken away after it was opened', async () => {
    const { path } = await storeIn(0o1777)
    rmSync(`${path}-wal`, { force: true })
    expect(() => refuseForeignFiles(path)).not.toThrow()
    const why = `${path}-wal was taken away by another user, who could read and change what is written to it.`
    expect(() => refuseForeignFiles(path, { areOpen: true })).toThrow(why)
  })
})

it('a store in a private folder has no file more', async () => {
  const { folder, path, open } = await storeIn(0o700)
  await (await open()).close()
  expect(existsSync(`${path}-journal`)).toBe(false)
  expect(readdirSync(folder)).not.toContain('store.db-wal')
})

/** What SQLite takes for the remains of a transaction that began when the database had one page. */
function emptyingJournal(): Buffer {
  const journal = Buffer.alloc(512)
  journal.write('d9d505f920a163d7', 'hex')
  for (const [at, value] of [0, 1, 1, 512, 4_096].entries())
    journal.writeUInt32BE(value, 8 + 4 * at)
  return journal
}
