import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { SQLITE_STEPS } from '../sqlite/migrations/migrations.ts'
import { missingTables, tablesAfter } from './migrated-tables.ts'

it('lists exactly the tables that the migrations create', () => {
  const database = new DatabaseSync(':memory:')
  for (const step of SQLITE_STEPS) database.exec(step)
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all()
  const names = tables.map(({ name }) => String(name)).filter((name) => !name.startsWith('sqlite_'))
  expect(tablesAfter(SQLITE_STEPS).toSorted()).toEqual(names.toSorted())
  expect(missingTables(SQLITE_STEPS, new Set(names))).toBeNull()
  const fewer = new Set(names.filter((name) => name !== 'note' && name !== 'route'))
  expect(missingTables(SQLITE_STEPS, fewer)).toBe('its tables route, note are missing')
})
