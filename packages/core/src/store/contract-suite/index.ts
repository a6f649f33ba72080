/** For authors of engines: the contract that every store keeps, to be run with any test runner. */
export { STORE_CONTRACT, type StoreBench, type StoreCase } from './store-contract.ts'
