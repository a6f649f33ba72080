import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findProfiles, type ProfileFiles, readRoutingFile } from './home.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-home-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('findProfiles', () => {
  it('finds logs that were rotated by number or by date, packed or not, and nothing else', async () => {
    mkdirSync(join(folder, 'logs'))
    writeFileSync(join(folder, 'state.db'), '')
    const logs = [
      ...['agent.log', 'agent.log-20260528.gz', 'agent.log.1', 'agent.log.2.gz'],
      ...['agent.log.2026-05-28', 'errors.log.3.zst'],
    ]
    for (const name of [...logs, 'agent.log.bak', 'catalog', 'notes.txt', 'agent.log.xz']) {
      writeFileSync(join(folder, 'logs', name), '')
    }
    const [profile] = await findProfiles(folder)
    expect(profile?.logs.map((path) => basename(path))).toEqual(logs)
  })

  const tree = (...files: readonly string[]) => {
    const home = mkdtempSync(join(folder, 'tree-'))
    for (const file of files) {
      mkdirSync(dirname(join(home, file)), { recursive: true })
      writeFileSync(join(home, file), '')
    }
    return home
  }
  const found = async (path: string, home: string) =>
    (await findProfiles(path)).map((profile) => JSON.stringify(profile).replaceAll(home, 'H'))
  const told = (name: string, at: string, more: Partial<ProfileFiles>) =>
    JSON.stringify({
      ...{ name, folder: at, store: `${at}/state.db`, logs: [], routingFile: null },
      ...more,
    })

  it('finds every profile of a home, with its logs and its file of routes', async () => {
    const home = tree(
      ...['state.db', 'logs/b.log', 'logs/a.log', 'sessions/sessions.json', 'profiles/b/state.db'],
      ...['state.db.sessions.json', 'profiles/a/state.db', 'profiles/a/state.db.sessions.json'],
      ...['profiles/c/config.yaml', 'profiles/d/state.db/x', 'profiles/a/sessions/sessions.json/x'],
    )
    const profiles = [
      told('default', 'H', {
        ...{ logs: ['H/logs/a.log', 'H/logs/b.log'] },
        routingFile: 'H/sessions/sessions.json',
      }),
      told('a', 'H/profiles/a', { routingFile: 'H/profiles/a/state.db.sessions.json' }),
      told('b', 'H/profiles/b', {}),
    ]
    expect(await found(home, home)).toEqual(profiles)
    expect(await found(join(home, 'state.db'), home)).toEqual(profiles.slice(0, 1))
    expect(await found(join(home, 'profiles/a/state.db'), home)).toEqual(profiles.slice(1, 2))
  })

  it('takes a file of another name for a store by itself, with the routes of its repair', async () => {
    const home = tree('new.db', 'old.db', 'new.db.sessions.json', 'logs/a.log')
    const alone = (name: string, routingFile: string | null) => [
      told('default', 'H', { folder: null, store: `H/${name}`, routingFile }),
    ]
    expect(await found(join(home, 'new.db'), home)).toEqual(
      alone('new.db', 'H/new.db.sessions.json'),
    )
    expect(await found(join(home, 'old.db'), home)).toEqual(alone('old.db', null))
  })

  it('refuses a folder without a store', async () => {
    const home = tree('profiles/a/config.yaml')
    await expect(findProfiles(home)).rejects.toMatchObject({
      facts: {
        ...{ verdict: 'missing', path: home },
        problem:
          'there is no state.db in this folder, nor in profiles/ below it. Name a Hermes home.',
      },
    })
  })
})

it('a file of routes is read without its mark of byte order, up to 32 MiB', async () => {
  const path = join(folder, 'sessions.json')
  const lengthOf = async () => (await readRoutingFile(path)).length
  writeFileSync(path, '\uFEFF{"a":1}')
  expect(await readRoutingFile(path)).toBe('{"a":1}')
  writeFileSync(path, '{}')
  expect(await readRoutingFile(path)).toBe('{}')
  truncateSync(path, 33_554_432)
  const most = await lengthOf()
  truncateSync(path, 33_554_433)
  expect([most, await lengthOf()]).toEqual([33_554_432, 0])
})
