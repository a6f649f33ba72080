import type { Command } from 'commander'

/** The commands as data: shell completion and the tests of the documents read them. */
export interface CommandNode {
  /** The words after the program's name, such as `service print`; empty for the program itself. */
  readonly path: string
  readonly summary: string
  readonly commands: readonly { readonly name: string; readonly summary: string }[]
  readonly options: readonly {
    readonly names: readonly string[]
    readonly summary: string
    /** The kind of its value; null: it takes no value. */
    readonly value: ValueKind | null
    readonly choices: readonly string[]
  }[]
  /** The kind of its arguments; null: it takes none. */
  readonly argument: ValueKind | null
  /** The allowed values of the first argument, where they are a fixed list. */
  readonly choices: readonly string[]
}

/** As far as a shell can offer it. */
export type ValueKind = 'file' | 'session' | 'other'

export function listCommands(program: Command): readonly CommandNode[] {
  return walk(program, '')
}

function walk(command: Command, path: string): readonly CommandNode[] {
  const visible = command.createHelp().visibleCommands(command)
  const [argument] = command.registeredArguments
  const options = command.createHelp().visibleOptions(command)
  const node: CommandNode = {
    path,
    summary: summaryOf(command),
    commands: visible.map((sub) => ({ name: sub.name(), summary: summaryOf(sub) })),
    options: options.map((option) => ({
      names: [option.short, option.long].filter((name) => name !== undefined),
      summary: option.description,
      value: option.required || option.optional ? kindOf(placeholderIn(option.flags)) : null,
      choices: option.argChoices ?? [],
    })),
    argument: argument === undefined ? null : kindOf(argument.name()),
    choices: argument?.argChoices ?? [],
  }
  const below = command.commands.flatMap((sub) => walk(sub, `${path} ${sub.name()}`.trimStart()))
  return [node, ...below]
}

function placeholderIn(flags: string): string {
  return /[<[]([a-z]+)/.exec(flags)?.[1] ?? ''
}

function kindOf(placeholder: string): ValueKind {
  if (placeholder === 'session') return 'session'
  return ['file', 'path', 'log'].includes(placeholder) ? 'file' : 'other'
}

function summaryOf(command: Command): string {
  return command.summary() || command.description()
}
