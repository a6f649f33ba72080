import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { findSearchFaults } from './search-index.ts'

const INDEXES = ['messages_fts', 'messages_fts_trigram']
const VERBS = ['insert', 'delete', 'update']

/** A store as far as its search index: two rows, and triggers under the names that Hermes uses. */
function storeWith(change: string) {
  const database = new DatabaseSync(':memory:')
  database.exec(`create table messages (id integer primary key, role text, content text);
    insert into messages values (1, 'user', 'granite'), (2, 'assistant', 'basalt');`)
  for (const name of INDEXES) {
    database.exec(`create virtual table ${name} using fts5(content, content='messages', content_rowid='id');
      insert into ${name} (${name}) values ('rebuild');`)
    for (const verb of VERBS) {
      database.exec(`create trigger ${name}_${verb} after ${verb} on messages begin select 1; end;`)
    }
  }
  database.exec(change)
  return database
}

const dropTriggers = (name: string) =>
  VERBS.map((verb) => `drop trigger ${name}_${verb};`).join('\n')

describe('the search index of a Hermes store', () => {
  it.each([
    ['is whole', ''],
    ['is created on opening if all of it is missing', INDEXES.map(without).join('\n')],
    ['may lack the second table, which can be disabled', without('messages_fts_trigram')],
  ])('%s', (_, change) => {
    expect(findSearchFaults(storeWith(change))).toEqual([])
  })

  it.each([
    [
      'a table whose triggers are left',
      'drop table messages_fts',
      { table: 'messages_fts', problem: 'no-table', what: 'its triggers are there' },
    ],
    [
      'the first table alone',
      without('messages_fts'),
      { table: 'messages_fts', problem: 'no-table', what: '' },
    ],
    [
      'triggers',
      'drop trigger messages_fts_insert; drop trigger messages_fts_update',
      {
        ...{ table: 'messages_fts', problem: 'no-triggers' },
        what: 'messages_fts_insert, messages_fts_update',
      },
    ],
  ])('is reported without %s', (_, change, fault) => {
    expect(findSearchFaults(storeWith(change))).toEqual([fault])
  })
})

function without(name: string): string {
  return `${dropTriggers(name)}\ndrop table ${name};`
}
