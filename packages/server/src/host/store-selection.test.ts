import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { openSqliteStore } from '#core/store/sqlite/open'
import { stateFolder } from './operating-system.ts'
import {
  auditFolder,
  configuredSpend,
  displayUrl,
  olderAuditFolders,
  withStore,
} from './store-selection.ts'

it('shows the URL of a store without its password, wherever it appears', () => {
  const addresses = [
    'postgres://me:hunter2@host:5432/db',
    'postgresql://me@host:5432/db?sslmode=require&password=hunter2',
    'postgres://me:hunter2@host:port/db',
  ]
  expect(addresses.map(displayUrl)).toEqual([
    'postgres://me@host:5432/db',
    'postgresql://me@host:5432/db',
    'a postgres:// address that cannot be read',
  ])
  expect(displayUrl('a folder/store.db?x')).toBe('a folder/store.db?x')
})

it('the logs of a store are in one folder, whichever name it is opened by', ({
  onTestFinished,
}) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'throughline-place-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const name of ['real', 'other']) mkdirSync(join(root, name))
  const store = join(root, 'real', 'store.db')
  const link = join(root, 'other', 'link.db')
  symlinkSync(store, link)
  // The file does not exist; opening it reports that.
  expect(auditFolder(link)).toBe(join(root, 'other', 'audit'))
  writeFileSync(store, '')
  expect([store, link].map(auditFolder)).toEqual(Array(2).fill(join(root, 'real', 'audit')))
  expect(olderAuditFolders(link)).toEqual([join(root, 'other', 'audit')])
  expect(olderAuditFolders(store)).toEqual([])
})

it('an earlier version kept the logs of all stores on servers together', () => {
  expect(olderAuditFolders('postgres://me@host/db')).toEqual([join(stateFolder(), 'audit')])
})

it('a command that fails leaves the new store to a process that opened it meanwhile', async ({
  onTestFinished,
}) => {
  const root = mkdtempSync(join(tmpdir(), 'throughline-place-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const store = join(root, 'store.db')
  const failing = withStore(
    { store },
    async () => {
      const other = await openSqliteStore({ path: store })
      onTestFinished(() => other.close())
      throw new Error('refused')
    },
    { mayMake: true },
  )
  await expect(failing).rejects.toThrow('refused')
  expect(existsSync(store)).toBe(true)
})

it('returns the spending limits of turns, except for a store that the configuration does not name', async ({
  onTestFinished,
}) => {
  const root = mkdtempSync(join(tmpdir(), 'throughline-place-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  onTestFinished(() => void vi.unstubAllEnvs())
  const config = join(root, 'throughline.yaml')
  writeFileSync(config, 'limits: {spend: {turn: {tokens: 5000}}}\n')
  vi.stubEnv('THROUGHLINE_CONFIG', config)
  const store = join(root, 'store.db')
  const known = { turn: { tokens: 5_000 } }
  expect(await configuredSpend({})).toMatchObject(known)
  expect(await configuredSpend({ config })).toMatchObject(known)
  expect(await configuredSpend({ config, store })).toMatchObject(known)
  expect(await configuredSpend({ store })).toEqual({})
})
