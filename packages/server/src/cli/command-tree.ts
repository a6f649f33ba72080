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
    /** The kind of its value; null: it takes none. */
    readonly value: ValueKind | null
    readonly choices: readonly string[]
  }[]
  /** What its arguments are; null: it takes none. */
  readonly argument: ValueKind | null
  /** What the first argument may be, where that is a list. */
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
