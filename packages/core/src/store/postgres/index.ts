/**
 * `@throughline/core/postgres`: the store on a PostgreSQL server. Needs the package `pg`, which is
 * loaded when a store is opened.
 */
export type { PostgresDriver } from './connections/driver.ts'
export { openPostgres } from './open.ts'
export { readPostgres } from './read.ts'
