import { runSeed } from './test/simulation/run.ts'
