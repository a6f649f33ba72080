import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { KnownError } from '../base/errors.ts'
import { auditCommand } from './audit.ts'
import { compactCommand } from './compact.ts'
import { EXIT } from './exit.ts'
import { printable } from './printable.ts'

/** The command `throughline`. Data goes to standard output, everything said to people to standard error. */

// A reader that has seen enough (`| head`) closes the pipe; that is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever writes is told of any other error.
  if (error.code === 'EPIPE') process.exit(EXIT.done)
})

try {
  await buildProgram().parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
}

function buildProgram(): Command {
  const program = new Command('throughline')
    .description('Keeps the memory of AI agents that run for months.')
    .version(readVersion(), '-V, --version')
    .showHelpAfterError('Run it with --help to see what it takes.')
    .exitOverride()
  for (const command of [compactCommand(), auditCommand()]) {
    program.addCommand(command.copyInheritedSettings(program))
  }
  return program
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has already said what is wrong.
    return error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
  if (error instanceof KnownError) {
    process.stderr.write(`throughline: ${printable(error.message)}\n`)
    return EXIT.usage
  }
  // A bug of ours: here a stack trace is what helps.
  process.stderr.write(`throughline failed unexpectedly; please report this.\n`)
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  return EXIT.failed
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
