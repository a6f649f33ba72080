import type { LoadRequest } from './config/load.ts'

/** The configuration that a command uses, with overrides for one run. */
export interface ConfigFlags {
  readonly config?: string
  readonly set?: readonly string[]
}

/** Which store and which configuration a command acts on. */
export interface StoreFlags extends ConfigFlags {
  readonly store?: string
}

export function loadRequest({ config, set = [] }: ConfigFlags): LoadRequest {
  return {
    env: process.env,
    flags: set,
    cwd: process.cwd(),
    ...(config !== undefined && { path: config }),
  }
}
