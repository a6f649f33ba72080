import type { Command } from 'commander'

/** The commands as data, for shells to complete and for tests to hold documents against. */
export interface CommandNode {
  /** Words behind the program's name: `service print`; the program itself has none. */
  readonly path: string
  readonly summary: string
  readonly commands: readonly { readonly name: string; readonly summary: string }[]
  readonly options: readonly {
    readonly names: readonly string[]
    readonly summary: string
    readonly takesValue: boolean
    readonly choices: readonly string[]
  }[]
  /** What the first argument may be, where that is a list. */
  readonly choices: readonly string[]
}

export function listCommands(program: Command): readonly CommandNode[] {
  return walk(program, '')
}

function walk(command: Command, path: string): readonly CommandNode[] {
  const shown = command.createHelp().visibleCommands(command)
  const options = command.createHelp().visibleOptions(command)
  const node: CommandNode = {
    path,
    summary: summaryOf(command),
    commands: shown.map((sub) => ({ name: sub.name(), summary: summaryOf(sub) })),
    options: options.map((option) => ({
      names: [option.short, option.long].filter((name) => name !== undefined),
      summary: option.description,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    })),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  }
  const below = command.commands.flatMap((sub) => walk(sub, `${path} ${sub.name()}`.trimStart()))
  return [node, ...below]
}

function summaryOf(command: Command): string {
  return command.summary() || command.description()
}
