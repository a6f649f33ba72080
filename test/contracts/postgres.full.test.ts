import { provePostgres } from './benches/postgres-contract.ts'

provePostgres(1)
