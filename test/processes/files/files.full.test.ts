import { afterAll, beforeAll, describe, it } from 'vitest'
import { POSTGRES_TO_8 } from '../../support/earlier-schemas.ts'
import { connectAdmin, newSchema, startPostgres, type TestServer } from '../../support/postgres.ts'
import type { Place } from '../place.ts'
import { checkFilled, fill, migrateThroughDeaths, using } from './dying.ts'

const POSTGRES_AS_IT_WAS = `${POSTGRES_TO_8}
  drop table word_page, passage_block; create table entry_words (words tsvector);
  alter table indexed drop column state;
  drop table draft, schedule, note, token; drop index attempt_at;
  alter table session drop column title, drop column title_salt, drop column scope;
  alter table operation drop column requested_by;
  alter table attempt drop column cached_tokens, drop column cost, drop column host;
  update store set schema = 1`

describe('kill -9 during a migration', () => {
  let server: TestServer | { readonly problem: string }
  beforeAll(async () => {
    server = await startPostgres({ flags: ['-c', 'fsync=off'] })
  })
  afterAll(async () => {
    if ('url' in server) await server.stop()
  })

  it('of a new PostgreSQL schema leaves none, or a whole one [I9, fault 17]', async (context) => {
    if ('problem' in server) return context.skip(server.problem)
    const schema = newSchema()
    const place: Place = { kind: 'postgres', url: server.url, schema }
    const admin = await connectAdmin(server.url)
    const schemaOf = async () => {
      const { rows } = await admin.query('select from pg_namespace where nspname = $1', [schema])
      if (rows.length === 0) return 0
      return Number((await admin.query(`select schema from ${schema}.store`)).rows[0].schema)
    }
    await migrateThroughDeaths(place, schemaOf, 0)
    await using(place, async (store) => checkFilled(store, await fill(store)))
    await admin.end()
  })

  it('leaves a PostgreSQL schema in its old shape or in the new one [I9, fault 17]', async (context) => {
    if ('problem' in server) return context.skip(server.problem)
    const { url } = server
    const schema = newSchema()
    const place: Place = { kind: 'postgres', url, schema }
    const fixture = await using(place, fill)
    const admin = await connectAdmin(url)
    await admin.query(`set search_path to ${schema}`)
    await admin.query(POSTGRES_AS_IT_WAS)
    const schemaOf = async () =>
      Number((await admin.query('select schema from store')).rows[0].schema)
    await migrateThroughDeaths(place, schemaOf)
    await using(place, (store) => checkFilled(store, fixture))
    await admin.end()
  })
})
