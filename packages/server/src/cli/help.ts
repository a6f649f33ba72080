import type { Command } from 'commander'
import { commandForm, programLocation } from './hint.ts'

/** What stands below a command's flags. docs/guides/commands.md is held against it by a test. */
export interface Help {
  readonly codes: readonly (readonly [code: number, meaning: string])[]
  /** Without the program's name: that depends on where the person stands. */
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
