import type { Command } from 'commander'

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
