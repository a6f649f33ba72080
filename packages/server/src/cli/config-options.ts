import type { Command } from 'commander'

export function addConfigOptions(command: Command): Command {
  return addSetOption(command).option(
    '--config <file>',
    'the configuration file; default: throughline.yaml in this folder or above',
  )
}

export function addSetOption(command: Command): Command {
  return command.option(
    '--set <key=value>',
    'override a setting for this run; repeatable',
    (text: string, before: readonly string[] = []) => [...before, text],
  )
}
