import { provePostgres } from './benches/postgres-contract.ts'

// Memory and SQLite run all of it; `npm run test:full` does so on PostgreSQL as well.
provePostgres(12)
