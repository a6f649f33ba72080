import { expect, it } from 'vitest'
import { shownPlace } from './store-place.ts'

it('a store’s address is shown without its password, wherever that stands', () => {
  const addresses = [
    'postgres://me:hunter2@host:5432/db',
    'postgresql://me@host:5432/db?sslmode=require&password=hunter2',
    'postgres://me:hunter2@host:port/db',
  ]
  expect(addresses.map(shownPlace)).toEqual([
    'postgres://me@host:5432/db',
    'postgresql://me@host:5432/db',
    'a postgres:// address that cannot be read',
  ])
  expect(shownPlace('a folder/store.db?x')).toBe('a folder/store.db?x')
})
