import type { Command } from 'commander'
import type { LoadRequest } from '../runtime/config/load.ts'

/** Which configuration a command goes by, and what is different for this one run. */
export interface ConfigFlags {
  readonly config?: string
  readonly set?: readonly string[]
}

export function addConfigOptions(command: Command): Command {
  return addSetOption(command).option(
    '--config <file>',
    'the configuration; else throughline.yaml here or above',
  )
}

export function addSetOption(command: Command): Command {
  return command.option(
    '--set <key=value>',
    'for this run, before environment and file; may be given often',
    (text: string, before: readonly string[] = []) => [...before, text],
  )
}

export function loadRequest({ config, set = [] }: ConfigFlags): LoadRequest {
  return {
    env: process.env,
    flags: set,
    cwd: process.cwd(),
    ...(config !== undefined && { path: config }),
  }
}
