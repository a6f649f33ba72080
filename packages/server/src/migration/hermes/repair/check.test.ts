import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { checkSchema } from './check.ts'

function checked(schema: string): void {
  const database = new DatabaseSync(':memory:')
  database.exec(`create table Messages (id integer); create table own (id integer); ${schema}`)
  checkSchema(database, 'state.db')
}

const trigger = (name: string, table: string, body = 'select 1') =>
  `create trigger ${name} after insert on ${table} begin ${body}; end;`

describe('a store before its repair', () => {
  it.each([
    ['triggers of Hermes', trigger('messages_fts_insert', 'Messages')],
    ['triggers on tables of its owner', trigger('count_own', 'own')],
    ['views', 'create view talk as select id from Messages;'],
  ])('may have %s', (_, schema) => {
    expect(() => checked(schema)).not.toThrow()
  })

  it.each([
    [
      'a trigger of another program, in any spelling of the table',
      trigger('lie', 'Messages'),
      '"lie"',
    ],
    [
      'a view that may never end',
      'create view deep as with recursive r(n) as (select 1 union all select n from r) select n from r;',
      '"deep"',
    ],
    [
      'a trigger of Hermes that may never end',
      trigger(
        'messages_fts_insert',
        'Messages',
        'insert into own with recursive r(n) as (select 1 union all select n from r) select n from r',
      ),
      '"messages_fts_insert"',
    ],
  ])('is refused with %s', (_, schema, name) => {
    expect(() => checked(schema)).toThrow(`${name} is none of Hermes`)
  })
})
