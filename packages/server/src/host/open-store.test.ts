import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
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
