import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openHost } from './open-host.ts'
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

it('an old copy of the store that brought its own record of commits is reported [I26]', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-old-copy-'))
  const config = join(folder, 'throughline.yaml')
  writeFileSync(config, 'store: {url: store.db}\nlogging: {file: log.jsonl}\n')
  const say = async (key: string) => {
    const host = await openHost({ config }, { runs: true, mayMake: true })
    const to = { agent: 'main', channel: 'test', address: 'a' }
    const parts = [{ type: 'text', text: key } as const]
    expect(await host.runtime.admit({ ...to, source: 'test', key, parts })).toMatchObject({
      kind: 'admitted',
    })
    await host.close()
  }
  const copy = (from: string, to: string) => {
    mkdirSync(to, { recursive: true })
    for (const end of ['', '.anchor', '.commits']) {
      copyFileSync(join(from, `store.db${end}`), join(to, `store.db${end}`))
    }
  }
  const reports = () => readFileSync(join(folder, 'log.jsonl'), 'utf8').match(/an older copy was/g)
  try {
    await say('one')
    copy(folder, join(folder, 'old'))
    await say('two')
    await say('three')
    expect(reports()).toBeNull()
    copy(join(folder, 'old'), folder)
    await say('four')
    expect(reports()).toHaveLength(1)
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
