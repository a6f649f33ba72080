/** For authors of engines: the contract that every store keeps, to be run with any test runner. */
export type { StoreBench, StoreCase } from './case.ts'
export { STORE_CONTRACT } from './store-contract.ts'
