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
import { mayLackCommits, openStore, serverStoreName } from './open-store.ts'

it('a file that the system refuses is reported with a message, not a stack trace', async () => {
  const url = join(tmpdir(), 'a'.repeat(5_000))
  const opening = openStore({ url }, {}, tmpdir())
  await expect(opening).rejects.toMatchObject({
    ...{ code: 'store-refused', retryable: false },
    cause: { code: 'ENAMETOOLONG' },
  })
})

it('commits may be missing unnoticed only if both files beside the store are missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-evidence-'))
  const url = join(folder, 'store.db')
  try {
    expect(mayLackCommits({ url })).toBe(false)
    await (await openStore({ url }, {}, folder)).close()
    expect(mayLackCommits({ url })).toBe(false)
    rmSync(`${url}.anchor`)
    expect(mayLackCommits({ url })).toBe(false)
    rmSync(`${url}.commits`)
    expect(mayLackCommits({ url })).toBe(true)
    expect(mayLackCommits({ url: 'postgres://db.example/agents' })).toBe(false)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('each store on a server has its own name, and always the same one', () => {
  const name = serverStoreName('postgres://ana:secret@db.example/agents')
  expect(name).toMatch(/^postgres-agents-[0-9a-f]{12}$/)
  expect(serverStoreName('postgres://ben@db.example/agents?sslmode=require')).toBe(name)
  const others = [
    ...['postgres://db.example/other', 'postgres://db.example:5433/agents', 'postgres://[/agents'],
    ...['postgres://db/%2e%2e', 'postgres:///agents?host=/run/a', 'postgres:///agents?host=/run/b'],
  ].map(serverStoreName)
  expect(new Set([name, ...others]).size).toBe(1 + others.length)
  for (const other of others) expect(other).toMatch(/^postgres-[\w-]*-[0-9a-f]{12}$/)
})

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
  const url = join(folder, 'store.db')
  const open = () => openStore({ url }, {}, folder)
  await (await open()).close()
  return { folder, url, open }
}

describe('a store in a folder of all users', () => {
  it('holds the names of the files beside it before SQLite looks at them', async () => {
    const { url, open } = await storeIn(0o1777)
    const store = await open()
    try {
      for (const end of ['-journal', '-wal', '-shm']) {
        const { uid, mode } = statSync(`${url}${end}`)
        expect({ uid, mode: mode & 0o777 }).toEqual({ uid: process.geteuid?.(), mode: 0o600 })
      }
      expect(statSync(`${url}-journal`).size).toBe(0)
    } finally {
      await store.close()
    }
    // And it opens with those that are left.
    await (await open()).close()
  })

  it('is emptied by no journal of another user, who puts it there at the last moment', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { folder, url, open } = await storeIn(0o1777)
    const { size } = statSync(url)
    await (await open()).close()
    const planted = join(folder, 'planted')
    writeFileSync(planted, emptyingJournal(), { mode: 0o666 })
    chownSync(planted, OTHER, OTHER)
    const asOther = { uid: OTHER, gid: OTHER, stdio: 'ignore' } as const
    expect(() => execFileSync('mv', ['-f', planted, `${url}-journal`], asOther)).toThrow()
    await (await open()).close()
    expect(statSync(url).size).toBeGreaterThanOrEqual(size)
  })
})

it('a store in a private folder has no file more', async () => {
  const { folder, url, open } = await storeIn(0o700)
  await (await open()).close()
  expect(existsSync(`${url}-journal`)).toBe(false)
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
