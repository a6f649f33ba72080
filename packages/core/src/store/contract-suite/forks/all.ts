import { forkErasures, forkFiles, forkPurges } from './fork-erasures.ts'
import { forks } from './forks.ts'

/** The cases about forks, by theme. */
export const FORK_CASES = { forks, forkErasures, forkPurges, forkFiles }
