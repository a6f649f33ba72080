import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { auditCommand } from './audit.ts'
import { backupCommand } from './backup.ts'
import { chatCommand } from './chat.ts'
import { compactCommand } from './compact.ts'
import { completionCommand } from './completion.ts'
import { configCommand } from './config.ts'
import { doctorCommand } from './doctor.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { mcpCommand } from './mcp.ts'
import { purgeCommand } from './purge.ts'
import { rehearseCommand } from './rehearse.ts'
import { searchCommand } from './search.ts'
import { sendCommand } from './send.ts'
import { serveCommand } from './serve.ts'
import { serviceCommand } from './service.ts'
import { sessionsCommand } from './sessions.ts'
import { showCommand } from './show.ts'
import { tokensCommand } from './tokens.ts'

/** All commands, in the order in which a newcomer meets them. */
export function buildProgram(): Command {
  const program = new Command('throughline')
    .description('Keeps the memory of AI agents that run for months.')
    .version(readVersion(), '-V, --version')
    .showHelpAfterError('Run it with --help to see what it takes.')
    // Told like everything else that is wrong.
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'throughline: ')),
    })
    .exitOverride()
  for (const { heading, commands } of groups()) {
    program.commandsGroup(heading)
    for (const command of commands) program.addCommand(inheriting(command, program))
  }
  // Listed beside the last ones.
  return program.helpCommand(true)
}

function groups() {
  return [
    { heading: 'Talk:', commands: [serveCommand(), chatCommand(), sendCommand(), mcpCommand()] },
    {
      heading: 'Look:',
      commands: [sessionsCommand(), showCommand(), searchCommand()],
    },
    {
      heading: 'Keep:',
      commands: [
        ...[compactCommand(), backupCommand(), exportCommand(), importCommand(), purgeCommand()],
      ],
    },
    { heading: 'Prove:', commands: [auditCommand(), doctorCommand(), rehearseCommand()] },
    {
      heading: 'Set up:',
      commands: [configCommand(), tokensCommand(), serviceCommand(), completionCommand()],
    },
  ]
}

/** Commands below commands inherit as well: none may end the process by itself. */
function inheriting(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent)
  for (const sub of command.commands) inheriting(sub, command)
  return command
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
