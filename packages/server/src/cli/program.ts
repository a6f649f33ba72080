import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { type CommandLoaders, SESSION_COMMANDS } from './session-commands.ts'
import { printable } from './terminal/printable.ts'

/** All commands, in the order in which a new user needs them. */
const GROUPS: readonly { readonly heading: string; readonly commands: CommandLoaders }[] = [
  { heading: 'Talk:', commands: SESSION_COMMANDS.talk },
  {
    heading: 'Record other agents:',
    commands: {
      run: async () => (await import('./commands/run/run.ts')).runCommand(),
      proxy: async () => (await import('./commands/proxy/proxy.ts')).proxyCommand(),
      leave: async () => (await import('./commands/leave/leave.ts')).leaveCommand(),
    },
  },
  { heading: 'Look:', commands: SESSION_COMMANDS.look },
  { heading: 'Keep:', commands: SESSION_COMMANDS.keep },
  {
    heading: 'Prove:',
    commands: {
      audit: async () => (await import('./commands/audit/audit.ts')).auditCommand(),
      doctor: async () => (await import('./commands/doctor/doctor.ts')).doctorCommand(),
      rehearse: async () => (await import('./commands/rehearse/rehearse.ts')).rehearseCommand(),
    },
  },
  {
    heading: 'Set up:',
    commands: {
      config: async () => (await import('./commands/config/config.ts')).configCommand(),
      tokens: async () => (await import('./commands/tokens/tokens.ts')).tokensCommand(),
      service: async () => (await import('./commands/service/service.ts')).serviceCommand(),
      completion: async () =>
        (await import('./commands/completion/completion.ts')).completionCommand(),
    },
  },
]

/** The program for these words: a command that they begin with is loaded alone. */
export async function buildProgram(words: readonly string[]): Promise<Command> {
  const program = new Command('throughline')
    .description('Durable sessions and memory for AI agents.')
    .version(readVersion(), '-V, --version')
    .showHelpAfterError('Run it with --help to see its options.')
    // Printed like every other error.
    .configureOutput({
      outputError: (text, write) => write(printable(text).replace(/^error: /, 'throughline: ')),
    })
    .exitOverride()
  for (const { heading, commands } of GROUPS) {
    program.commandsGroup(heading)
    for (const [name, load] of Object.entries(commands))
      if (isNeeded(name, words)) program.addCommand(inheriting(await load(), program))
  }
  // Listed with the last group.
  return program.helpCommand(true)
}

/** Help, completion and a mistyped name need them all. */
function isNeeded(name: string, [first = '']: readonly string[]): boolean {
  if (first === '--version' || first === '-V') return false
  const isOne = GROUPS.some(({ commands }) => Object.hasOwn(commands, first))
  return !isOne || first === 'completion' || first === name
}

/** Subcommands inherit this too: no command may exit the process directly. */
function inheriting(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent)
  for (const sub of command.commands) inheriting(sub, command)
  return command
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
