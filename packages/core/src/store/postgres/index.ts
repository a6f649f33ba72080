/** `@throughline/core/postgres`: the store on a PostgreSQL server. Needs the package `pg`. */
export { openPostgres } from './open.ts'
export { readPostgres } from './read.ts'
