import { mkdtempSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { unpackSample } from './sample-stores.ts'

/** A store with the tables, indexes and triggers that Hermes' own code made, and rows of a test. */
export class EmptyHome {
  readonly path: string
  readonly #database: DatabaseSync

  constructor(folder: string, schema: number) {
    const home = mkdtempSync(join(folder, 'home-'))
    this.path = join(home, 'state.db')
    renameSync(unpackSample(schema >= 26 ? 26 : 11, home), this.path)
    this.#database = new DatabaseSync(this.path, { enableForeignKeyConstraints: false })
    // Its own tables may be damaged on purpose.
    this.#database.enableDefensive(false)
    this.exec('delete from messages; delete from sessions; delete from sqlite_sequence')
    if (schema >= 26) this.exec('delete from gateway_routing; delete from system_prompts')
    this.#database.prepare('update schema_version set version = ?').run(schema)
  }

  session(id: string, columns: { readonly [name: string]: SQLInputValue }): void {
    const row = { source: 'telegram', model: 'some-model', ...columns, id }
    this.#insert('sessions', row)
  }

  row(
    sessionId: string,
    role: string,
    content: string | null,
    at: number,
    more: { readonly [name: string]: SQLInputValue } = {},
  ): void {
    this.#insert('messages', { session_id: sessionId, role, content, timestamp: at, ...more })
  }

  exec(sql: string): void {
    this.#database.exec(sql)
  }

  #insert(table: string, row: { readonly [name: string]: SQLInputValue }): void {
    const names = Object.keys(row)
    const places = names.map(() => '?').join(', ')
    this.#database
      .prepare(`insert into ${table} (${names.join(', ')}) values (${places})`)
      .run(...Object.values(row))
  }

  close(): void {
    this.#database.close()
  }
}
