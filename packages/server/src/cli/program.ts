import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { auditCommand } from './commands/audit/audit.ts'
import { completionCommand } from './commands/completion/completion.ts'
import { configCommand } from './commands/config/config.ts'
import { doctorCommand } from './commands/doctor/doctor.ts'
import { leaveCommand } from './commands/leave/leave.ts'
import { proxyCommand } from './commands/proxy/proxy.ts'
import { rehearseCommand } from './commands/rehearse/rehearse.ts'
import { runCommand } from './commands/run/run.ts'
import { serviceCommand } from './commands/service/service.ts'
import { tokensCommand } from './commands/tokens/tokens.ts'
import { sessionCommands } from './session-commands.ts'

/** All commands, in the order in which a new user needs them. */
export function buildProgram(): Command {
  const program = new Command('throughline')
    .description('Durable sessions and memory for AI agents.')
    .version(readVersion(), '-V, --version')
    .showHelpAfterError('Run it with --help to see its options.')
    // Printed like every other error.
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'throughline: ')),
    })
    .exitOverride()
  for (const { heading, commands } of groups()) {
    program.commandsGroup(heading)
    for (const command of commands) program.addCommand(inheriting(command, program))
  }
  // Listed with the last group.
  return program.helpCommand(true)
}

function groups() {
  const { talk, look, keep } = sessionCommands()
  return [
    { heading: 'Talk:', commands: talk },
    { heading: 'Record other agents:', commands: [runCommand(), proxyCommand(), leaveCommand()] },
    { heading: 'Look:', commands: look },
    { heading: 'Keep:', commands: keep },
    { heading: 'Prove:', commands: [auditCommand(), doctorCommand(), rehearseCommand()] },
    {
      heading: 'Set up:',
      commands: [configCommand(), tokensCommand(), serviceCommand(), completionCommand()],
    },
  ]
}

/** Subcommands inherit this too: no command may end the process by itself. */
function inheriting(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent)
  for (const sub of command.commands) inheriting(sub, command)
  return command
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
