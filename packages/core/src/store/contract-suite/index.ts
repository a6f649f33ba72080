/** For authors of engines: the contract of every store, to run with any test runner. */
export type { StoreBench, StoreCase } from './case.ts'
export { STORE_CONTRACT } from './store-contract.ts'
