import { provePostgres } from './benches/postgres-contract.ts'

// Memory and SQLite run all of it; `npm run test:full` does so on PostgreSQL as well. Deletions are the verb
// whose rule asks for rows in the most rounds there.
provePostgres(12, 'deletion')
