import { Argument, Command } from 'commander'
import { listCommands } from '../../command-tree.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { writeOutput } from '../../terminal/output.ts'
import { type CompletionShell, completionText, SHELLS } from './text.ts'

export function completionCommand(): Command {
  const command = new Command('completion')
    .summary('print a completion script for your shell')
    .description('Prints a script that completes commands, flags and their values in your shell.')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action(async (shell: CompletionShell, _flags: object, self: Command) => {
      const program = self.parent ?? self
      await writeOutput('-', completionText(shell, listCommands(program)))
    })
  return withHelp(command, {
    codes: [
      [EXIT.done, 'printed'],
      [EXIT.usage, 'wrong usage'],
    ],
    examples: [
      'throughline completion bash > ~/.local/share/bash-completion/completions/throughline',
      'throughline completion fish > ~/.config/fish/completions/throughline.fish',
    ],
  })
}
