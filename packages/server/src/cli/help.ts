import type { Command } from 'commander'
import { commandForm, programLocation } from './hint.ts'

/** The text below a command's flags. A test compares docs/guides/commands.md with it. */
export interface Help {
  readonly codes: readonly (readonly [code: number, meaning: string])[]
  /** With `throughline` as the program's name; help prints the form that works in this folder. */
  readonly examples: readonly string[]
}

export function withHelp(command: Command, { codes, examples }: Help): Command {
  return command.addHelpText('after', () => {
    const program = commandForm(programLocation())
    return [
      '',
      'Exit codes:',
      ...codes.map(([code, meaning]) => `  ${code}  ${meaning}`),
      '',
      'Examples:',
      ...examples.map((example) => `  ${example.replaceAll('throughline ', `${program} `)}`),
    ].join('\n')
  })
}
